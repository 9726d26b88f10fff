"""Addresses of the console's pages on writers and messages, mounted under /console/writing/."""

from django.urls import path

from completions.writers.console import messages, people

app_name = "writing"
urlpatterns = [
    path("", people.datasets, name="datasets"),
    path("<slug:dataset>/", people.pool, name="pool"),
    path("<slug:dataset>/invite/", people.invite, name="invite"),
    path("<slug:dataset>/link/", people.make_link, name="make-link"),
    path("<slug:dataset>/settings/", people.settings, name="settings"),
    path("<slug:dataset>/trial/", people.trial, name="trial"),
    path("<slug:dataset>/writers/<slug:code>/", people.writer, name="writer"),
    path("<slug:dataset>/writers/<slug:code>/act/", people.act, name="writer-act"),
    path("<slug:dataset>/messages/", messages.queue, name="messages"),
    path("<slug:dataset>/messages/accept/", messages.accept_many, name="accept_many"),
    path("<slug:dataset>/messages/<int:pk>/", messages.message, name="message"),
    path("<slug:dataset>/messages/<int:pk>/decide/", messages.decide, name="decide"),
    path("<slug:dataset>/messages/<int:pk>/author/", messages.author, name="author"),
    path("<slug:dataset>/freeze/", messages.freeze, name="freeze"),
    path("<slug:dataset>/import/", messages.import_file, name="import"),
    path("<slug:dataset>/import/store/", messages.store, name="import-store"),
    path("<slug:dataset>/import/refused/", messages.refused, name="import-refused"),
]
