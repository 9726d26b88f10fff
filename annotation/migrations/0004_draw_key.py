"""A secret from which draws for a rater follow; rows from before it are drawn for by their code."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_rater_without_session")]

    operations = [
        migrations.AddField(
            model_name="rater",
            name="draw_key",
            field=models.CharField(
                db_default="",
                default="",
                help_text="Secret: what draws for this rater follow from. Empty in rows from before it.",
                max_length=32,
            ),
        )
    ]
