from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("completions", "0005_keep_what_was_written"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='writer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'ACTIVE'), _negated=True), ('admitted_at__isnull', False), _connector='OR'), name='writer_active_when_admitted'),
        ),
    ]
