from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_number_leases_and_name_studies")]

    operations = [
        migrations.AddConstraint(
            model_name='lease',
            constraint=models.UniqueConstraint(fields=('rater', 'number'), name='lease_number_once_per_rater'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.UniqueConstraint(fields=('name', 'version'), name='study_version_once'),
        ),
    ]
