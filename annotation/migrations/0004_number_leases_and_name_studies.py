"""Give the leases of every rater their numbers, and every study the name of its versions."""

from django.db import migrations
from django.db.models import F


def name_and_number(apps, schema_editor):
    apps.get_model("annotation", "Study").objects.update(name=F("slug"))
    leases = apps.get_model("annotation", "Lease").objects
    last = number = None
    for pk, rater in leases.order_by("rater_id", "pk").values_list("pk", "rater_id").iterator():
        number = number + 1 if rater == last else 1
        last = rater
        leases.filter(pk=pk).update(number=number)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_judging_loop")]

    operations = [migrations.RunPython(name_and_number, migrations.RunPython.noop)]
