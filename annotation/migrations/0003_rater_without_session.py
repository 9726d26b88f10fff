from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_binding_and_submissions")]

    operations = [migrations.RemoveField(model_name="rater", name="session")]
