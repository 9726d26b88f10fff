"""The statistics that the paper reports, one by one: printed, planted, and found.

*Printed* is what arXiv 2601.19922v2 prints; where its text leaves two readings, notes say so.
*Planted* is what an ideal study finds of what is planted (`expecting`). *Found* is what came out
of the platform, with its 95 % interval and the page that shows it.
"""
