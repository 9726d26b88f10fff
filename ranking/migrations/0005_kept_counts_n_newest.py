from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ranking', '0004_kept_counts'),
    ]

    operations = [
        migrations.AddField(
            model_name='keptcounts',
            name='n_newest',
            field=models.IntegerField(db_default=0, default=0, help_text='Judgments above that key less the overlap, then.'),
        ),
    ]
