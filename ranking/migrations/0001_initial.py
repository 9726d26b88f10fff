import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_initial'),
        ('auth', '__first__'),
        ('completions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Fit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fits', to='annotation.study')),
                ('pool', models.CharField(choices=[('HUMAN', 'People'), ('LLM', 'LLM judges'), ('COMBINED', 'People and LLM judges')], max_length=8)),
                ('context_set', models.CharField(choices=[('ALL', 'All contexts'), ('REGULAR', 'Regular contexts'), ('ADVERSARIAL', 'Adversarial contexts')], max_length=12)),
                ('key', models.CharField(help_text='Permanent public name, derived from the inputs.', max_length=24, unique=True)),
                ('state', models.CharField(choices=[('RUNNING', 'Being computed'), ('DONE', 'Computed'), ('REFUSED', 'The data do not determine the ratings')], default='RUNNING', max_length=8)),
                ('as_of', models.DateTimeField(help_text='The analysis set is taken as of this time.')),
                ('inputs_hash', models.CharField(max_length=64)),
                ('method', models.JSONField(help_text='Estimator, strength mode, interval, replicates, seed.')),
                ('method_hash', models.CharField(max_length=64)),
                ('code_version', models.CharField(max_length=40)),
                ('n_judgments', models.PositiveIntegerField()),
                ('n_units', models.PositiveIntegerField(help_text='Source dialogues: the unit of resampling.')),
                ('is_simulated', models.BooleanField(help_text='Some evaluator or system behind it is simulated.')),
                ('diagnostics', models.JSONField(blank=True, default=dict, help_text='Iterations, replicates without a maximum, warnings.')),
                ('refusal', models.TextField(blank=True)),
                ('is_on_request', models.BooleanField(default=False, help_text='A person asked for it: its analyses do not wait.')),
                ('claimed_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('published_at', models.DateTimeField(blank=True, help_text='Since when everybody may read it, though its study may not be closed.', null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['study', 'pool', 'context_set', '-ended_at'], name='fit_latest')],
                'constraints': [models.UniqueConstraint(fields=('study', 'pool', 'context_set', 'inputs_hash', 'method_hash'), name='fit_once_per_inputs_and_method'), models.CheckConstraint(condition=models.Q(('pool__in', ['HUMAN', 'LLM', 'COMBINED'])), name='fit_pool_known'), models.CheckConstraint(condition=models.Q(('context_set__in', ['ALL', 'REGULAR', 'ADVERSARIAL'])), name='fit_context_set_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('refusal', ''), ('state', 'RUNNING')), models.Q(('ended_at__isnull', False), ('refusal', ''), ('state', 'DONE')), models.Q(('ended_at__isnull', False), ('state', 'REFUSED'), models.Q(('refusal', ''), _negated=True)), _connector='OR'), name='fit_ended_by_state'), models.CheckConstraint(condition=models.Q(('published_at__isnull', True), ('ended_at__isnull', False), _connector='OR'), name='fit_published_once_ended')],
            },
        ),
        migrations.CreateModel(
            name='Analysis',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='analyses', to='ranking.fit')),
                ('kind', models.CharField(choices=[('PAIRS', 'System against system'), ('DIMENSIONS', 'Dimension by dimension'), ('WEIGHTS', 'Dimensions by weight'), ('LIKERT', 'Messages rated alone'), ('PEOPLE', 'People and models'), ('AGREEMENT', 'Do evaluators agree?'), ('CHECKS', 'Does the model fit?'), ('FRAGILITY', 'Robustness of first place'), ('STYLE', 'Adjusted for length and style'), ('BIAS', 'Bias audits'), ('DRAWS', 'Ties and strengths'), ('RATERS', 'Strict and lenient judges'), ('RANKERS', 'Other rankers'), ('RATIONALES', 'Rationale themes'), ('STRATEGIES', 'Strategies of support'), ('FACTORS', 'What the dimensions have in common'), ('LATENCY', 'Speed and capability'), ('JUDGE', 'A judge calibrated by people'), ('PLANNING', 'How many more judgments?')], max_length=12)),
                ('state', models.CharField(choices=[('RUNNING', 'Being computed'), ('DONE', 'Computed'), ('REFUSED', 'The data do not determine the ratings')], default='RUNNING', max_length=8)),
                ('code_version', models.CharField(max_length=40)),
                ('result', models.JSONField(blank=True, default=dict, help_text='Tables, pictures and warnings, ready to be shown.')),
                ('refusal', models.TextField(blank=True)),
                ('begun', models.PositiveSmallIntegerField(default=0, help_text='How often a worker began it; one whose workers are lost is given up.')),
                ('claimed_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'analyses',
                'constraints': [models.UniqueConstraint(fields=('fit', 'kind', 'code_version'), name='analysis_once_per_fit_and_code'), models.CheckConstraint(condition=models.Q(('kind__in', ['PAIRS', 'DIMENSIONS', 'WEIGHTS', 'LIKERT', 'PEOPLE', 'AGREEMENT', 'CHECKS', 'FRAGILITY', 'STYLE', 'BIAS', 'DRAWS', 'RATERS', 'RANKERS', 'RATIONALES', 'STRATEGIES', 'FACTORS', 'LATENCY', 'JUDGE', 'PLANNING'])), name='analysis_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('refusal', ''), ('state', 'RUNNING')), models.Q(('ended_at__isnull', False), ('refusal', ''), ('state', 'DONE')), models.Q(('ended_at__isnull', False), ('state', 'REFUSED'), models.Q(('refusal', ''), _negated=True)), _connector='OR'), name='analysis_ended_by_state')],
            },
        ),
        migrations.CreateModel(
            name='HumanRating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='human_ratings', to='ranking.fit')),
                ('kind', models.CharField(choices=[('AVERAGE', 'Average Human'), ('MEAN_TEXT', 'Mean of the texts of a context'), ('RANDOM_TEXT', 'Random text of a context'), ('BEST_CROSS_FITTED', 'Best Human, cross-fitted'), ('BEST_PLAIN', 'Best Human, plain')], max_length=20)),
                ('elo', models.FloatField(help_text="Points, on the scale of the fit's systems.")),
                ('elo_se', models.FloatField()),
                ('elo_low', models.FloatField()),
                ('elo_high', models.FloatField()),
                ('n_judgments', models.PositiveIntegerField(help_text='Behind the score, mean over the splits.')),
                ('n_contexts', models.PositiveIntegerField(help_text='Behind the score, mean over the splits.')),
                ('detail', models.JSONField(blank=True, default=dict, help_text='Texts, opponents, splits, what was left out, warnings.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('fit', 'kind'), name='humanrating_once_per_fit'), models.CheckConstraint(condition=models.Q(('kind__in', ['AVERAGE', 'MEAN_TEXT', 'RANDOM_TEXT', 'BEST_CROSS_FITTED', 'BEST_PLAIN'])), name='humanrating_kind_known'), models.CheckConstraint(condition=models.Q(('elo_high__lte', 1000000.0), ('elo_low__gte', -1000000.0), ('elo_se__range', (0, 1000000.0))), name='humanrating_numbers_finite'), models.CheckConstraint(condition=models.Q(('elo_high__gte', models.F('elo')), ('elo_low__lte', models.F('elo'))), name='humanrating_interval_holds_elo'), models.CheckConstraint(condition=models.Q(('n_contexts__gte', 1), ('n_judgments__gte', 1)), name='humanrating_rests_on_something')],
            },
        ),
        migrations.CreateModel(
            name='KeptCounts',
            fields=[
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='kept_counts', serialize=False, to='annotation.study')),
                ('since', models.DateTimeField(help_text='From when to when this is what counts: begin.')),
                ('until', models.DateTimeField(help_text='End, which is when somebody looked last.')),
                ('counted_at', models.DateTimeField(help_text='When all judgments were counted last.')),
                ('rule', models.CharField(help_text='Mark of the code that says what counts.', max_length=16)),
                ('newest', models.BigIntegerField(default=0, help_text='Key of a judgment at the last look.')),
                ('n_newest', models.IntegerField(db_default=0, default=0, help_text='Judgments at that key or shortly before it, then.')),
                ('n_decisions', models.IntegerField(default=0)),
                ('rows', models.BinaryField()),
                ('newer_rows', models.BinaryField(help_text='Of some comparisons, in place of what `rows` has.')),
            ],
            options={
                'verbose_name_plural': 'kept counts',
                'constraints': [models.CheckConstraint(condition=models.Q(('since__lte', models.F('until'))), name='kept_counts_since_before_until')],
            },
        ),
        migrations.CreateModel(
            name='Measurement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='measurement', to='annotation.study')),
                ('as_of', models.DateTimeField(help_text='Of the judgments that were read.')),
                ('n_answers', models.PositiveIntegerField(help_text='Answers that count for ratings.')),
                ('median_seconds', models.FloatField(blank=True, help_text='Active time of an answer, over all of them.', null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('median_seconds__isnull', True), ('median_seconds__gt', 0), _connector='OR'), name='measurement_seconds_positive')],
            },
        ),
        migrations.CreateModel(
            name='RaterFigures',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measurement', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='figures', to='ranking.measurement')),
                ('rater', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='figures', to='annotation.rater')),
                ('n_answers', models.PositiveIntegerField()),
                ('n_checks', models.PositiveIntegerField()),
                ('n_passed', models.PositiveIntegerField()),
                ('median_seconds', models.FloatField(blank=True, null=True)),
                ('share_a', models.FloatField(blank=True, null=True)),
                ('infit', models.FloatField(blank=True, null=True)),
                ('agreement', models.FloatField(blank=True, null=True)),
                ('last_at', models.DateTimeField(blank=True, help_text='Of the last answer.', null=True)),
                ('findings', models.JSONField(blank=True, default=list)),
            ],
            options={
                'verbose_name_plural': 'rater figures',
                'constraints': [models.CheckConstraint(condition=models.Q(('n_passed__lte', models.F('n_checks'))), name='raterfigures_passed_within_checks')],
            },
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='ranking.fit')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='completions.system')),
                ('theta', models.FloatField(help_text='Log strength, natural units, mean 0 over the systems.')),
                ('elo', models.FloatField(help_text='Points, mean 1500.')),
                ('elo_se', models.FloatField()),
                ('elo_low', models.FloatField()),
                ('elo_high', models.FloatField()),
                ('rank', models.PositiveSmallIntegerField()),
                ('rank_low', models.PositiveSmallIntegerField()),
                ('rank_high', models.PositiveSmallIntegerField()),
                ('n_judgments', models.PositiveIntegerField()),
                ('wins', models.PositiveIntegerField()),
                ('losses', models.PositiveIntegerField()),
                ('ties', models.PositiveIntegerField()),
                ('tier', models.PositiveSmallIntegerField(help_text='1 is the first; fits made before there were tiers have none.', null=True)),
                ('joint_low', models.FloatField(help_text='Points; holds for all systems at once.', null=True)),
                ('joint_high', models.FloatField(help_text='Points; holds for all systems at once.', null=True)),
                ('sandwich_se', models.FloatField(help_text='Points; robust in closed form, clustered by source dialogue.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('fit', 'system'), name='rating_once_per_fit'), models.CheckConstraint(condition=models.Q(('tier__isnull', True), ('tier__gte', 1), _connector='OR'), name='rating_tier_from_one'), models.CheckConstraint(condition=models.Q(models.Q(('joint_high__isnull', True), ('joint_low__isnull', True)), models.Q(('joint_high__gte', models.F('elo')), ('joint_high__isnull', False), ('joint_high__lte', 1000000.0), ('joint_low__gte', -1000000.0), ('joint_low__isnull', False), ('joint_low__lte', models.F('elo'))), _connector='OR'), name='rating_joint_interval_holds_elo'), models.CheckConstraint(condition=models.Q(('sandwich_se__isnull', True), ('sandwich_se__range', (0, 1000000.0)), _connector='OR'), name='rating_sandwich_se_finite'), models.CheckConstraint(condition=models.Q(('elo_high__lte', 1000000.0), ('elo_low__gte', -1000000.0), ('elo_se__range', (0, 1000000.0)), ('theta__range', (-1000000.0, 1000000.0))), name='rating_numbers_finite'), models.CheckConstraint(condition=models.Q(('elo_high__gte', models.F('elo')), ('elo_low__lte', models.F('elo'))), name='rating_interval_holds_elo'), models.CheckConstraint(condition=models.Q(('rank_high__gte', models.F('rank')), ('rank_low__gte', 1), ('rank_low__lte', models.F('rank'))), name='rating_interval_holds_rank'), models.CheckConstraint(condition=models.Q(('n_judgments', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('wins'), '+', models.F('losses')), '+', models.F('ties')))), name='rating_outcomes_add_up')],
            },
        ),
        migrations.CreateModel(
            name='DimensionRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='dimension_rates', to='ranking.rating')),
                ('dimension', models.CharField(max_length=20)),
                ('wins', models.PositiveIntegerField()),
                ('n_marks', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('rating', 'dimension'), name='dimensionrate_once_per_rating'), models.CheckConstraint(condition=models.Q(('n_marks__gte', models.F('wins')), ('n_marks__gte', 1)), name='dimensionrate_wins_within_marks')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotation.study')),
                ('version', models.PositiveIntegerField(help_text="1 is the study's first release.")),
                ('key', models.CharField(help_text='Permanent public name, derived from the contents.', max_length=24, unique=True)),
                ('state', models.CharField(choices=[('BUILDING', 'Being built'), ('DONE', 'Built'), ('REFUSED', 'Not built')], default='BUILDING', max_length=8)),
                ('as_of', models.DateTimeField(help_text='Judgments and decisions are those as of this time.')),
                ('fits', models.JSONField(help_text='Keys of the fits whose ratings are released, in order.')),
                ('licence', models.CharField(help_text='SPDX name; of the judgments and ratings.', max_length=60)),
                ('secret', models.CharField(help_text="Key of the raters' ids; never released.", max_length=64)),
                ('manifest_hash', models.CharField(blank=True, help_text="SHA-256 of the list of all files' checksums.", max_length=64)),
                ('counts', models.JSONField(blank=True, default=dict, help_text='Of what the release holds.')),
                ('check_summary', models.JSONField(blank=True, default=dict, help_text='What verifying it said when it was built.')),
                ('is_simulated', models.BooleanField(help_text='Some evaluator, system or dialogue is simulated.')),
                ('code_version', models.CharField(max_length=40)),
                ('refusal', models.TextField(blank=True)),
                ('begun', models.PositiveSmallIntegerField(default=0, help_text='How often a worker began it; one whose workers are lost is given up.')),
                ('step', models.CharField(blank=True, help_text='What is being built now.', max_length=60)),
                ('built_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('claimed_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('published_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['study', '-version'], name='release_latest'), models.Index(condition=models.Q(('state', 'BUILDING')), fields=['id'], name='release_building')],
                'constraints': [models.UniqueConstraint(fields=('study', 'version'), name='release_version_once'), models.UniqueConstraint(condition=models.Q(('state', 'BUILDING')), fields=('study',), name='release_one_under_way'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='release_version_from_one'), models.CheckConstraint(condition=models.Q(('state__in', ['BUILDING', 'DONE', 'REFUSED'])), name='release_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('manifest_hash', ''), ('refusal', ''), ('state', 'BUILDING')), models.Q(('ended_at__isnull', False), ('refusal', ''), ('state', 'DONE'), models.Q(('manifest_hash', ''), _negated=True)), models.Q(('ended_at__isnull', False), ('manifest_hash', ''), ('state', 'REFUSED'), models.Q(('refusal', ''), _negated=True)), _connector='OR'), name='release_ended_by_state'), models.CheckConstraint(condition=models.Q(models.Q(('secret', ''), _negated=True), models.Q(('licence', ''), _negated=True)), name='release_secret_and_licence_given'), models.CheckConstraint(condition=models.Q(('published_at__isnull', True), ('state', 'DONE'), _connector='OR'), name='release_published_when_done')],
            },
        ),
    ]
