import datetime
import django.db.models.deletion
import django.db.models.expressions
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='What it is for.', max_length=80)),
                ('prefix', models.CharField(help_text='Its beginning, to tell it from others.', max_length=12)),
                ('secret_hash', models.CharField(help_text='SHA-256; the token itself is stored nowhere.', max_length=64, unique=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('scopes', models.CharField(help_text='With spaces between.', max_length=200)),
                ('study', models.SlugField(blank=True, help_text='The one study that it is for, by its slug; empty: all of them.')),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(blank=True, help_text='To the minute: written at most once in one.', null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('prefix', ''), _negated=True), models.Q(('secret_hash', ''), _negated=True)), name='apitoken_named_and_hashed'), models.CheckConstraint(condition=models.Q(('scopes__regex', '^(read:studies|read:texts|read:judgments|read:releases|write:completions|write:judgments)( (read:studies|read:texts|read:judgments|read:releases|write:completions|write:judgments))*$')), name='apitoken_scopes_known'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at')), ('expires_at__lte', django.db.models.expressions.CombinedExpression(models.F('created_at'), '+', models.Value(datetime.timedelta(days=366))))), name='apitoken_expires_within_a_year'), models.CheckConstraint(condition=models.Q(('revoked_at__isnull', True), ('revoked_at__gte', models.F('created_at')), _connector='OR'), name='apitoken_revoked_after_made')],
            },
        ),
        migrations.CreateModel(
            name='ConsentEvidence',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('RATER', 'Rater'), ('WRITER', 'Writer')], max_length=6)),
                ('scope', models.CharField(help_text='Name of the study or the dataset.', max_length=60)),
                ('person', models.CharField(help_text='Keyed hash of who it was.', max_length=64)),
                ('version', models.CharField(max_length=20)),
                ('text_hash', models.CharField(max_length=64)),
                ('given_on', models.DateField()),
            ],
            options={
                'verbose_name_plural': 'consent evidence',
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['given_on'], name='consentevidence_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['RATER', 'WRITER'])), name='consentevidence_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('scope', ''), _negated=True), models.Q(('person', ''), _negated=True), models.Q(('text_hash', ''), _negated=True)), name='consentevidence_says_who_to_what'), models.UniqueConstraint(fields=('person', 'version', 'text_hash'), name='consentevidence_once_per_text')],
            },
        ),
        migrations.CreateModel(
            name='Hook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(max_length=500)),
                ('secret', models.CharField(blank=True, max_length=80)),
                ('events', models.JSONField(help_text='The events it is told of, by name.')),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('url', ''), _negated=True), name='hook_has_address'), models.CheckConstraint(condition=models.Q(models.Q(('removed_at__isnull', True), models.Q(('secret', ''), _negated=True)), models.Q(('is_active', False), ('removed_at__isnull', False), ('secret', '')), _connector='OR'), name='hook_secret_until_removed')],
            },
        ),
        migrations.CreateModel(
            name='HookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hook', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='access.hook')),
                ('event_id', models.UUIDField(help_text='The same for every hook that is told of the event.')),
                ('event_key', models.CharField(help_text='What makes the event that event.', max_length=200)),
                ('event', models.CharField(choices=[('study.full', 'Every slot of a study is judged'), ('run.finished', 'A run of models, judges or labels is over'), ('alert', 'Something needs a person: a report, a stopped run, a refused fit'), ('test', 'Somebody tries the webhook')], max_length=12)),
                ('payload', models.JSONField()),
                ('queued_at', models.DateTimeField()),
                ('wanted_since', models.DateTimeField(help_text='When it was queued, or last asked for again.')),
                ('state', models.CharField(choices=[('PENDING', 'Waiting to be sent'), ('DELIVERED', 'Taken by the receiver'), ('ABANDONED', 'Given up: can be sent again')], default='PENDING', max_length=9)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(blank=True, null=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('last_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'hook deliveries',
                'indexes': [models.Index(condition=models.Q(('state', 'PENDING')), fields=['next_attempt_at', 'id'], name='hookdelivery_waiting'), models.Index(fields=['hook', 'state'], name='hookdelivery_by_state')],
                'constraints': [models.UniqueConstraint(fields=('hook', 'event_key'), name='hookdelivery_once_per_event'), models.CheckConstraint(condition=models.Q(('state__in', ['PENDING', 'DELIVERED', 'ABANDONED'])), name='hookdelivery_state_known'), models.CheckConstraint(condition=models.Q(('event__in', ['study.full', 'run.finished', 'alert', 'test'])), name='hookdelivery_event_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'PENDING'), ('next_attempt_at__isnull', False)), models.Q(models.Q(('state', 'PENDING'), _negated=True), ('claimed_at__isnull', True), ('next_attempt_at__isnull', True)), _connector='OR'), name='hookdelivery_pending_has_next'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'DELIVERED'), ('delivered_at__isnull', False)), models.Q(models.Q(('state', 'DELIVERED'), _negated=True), ('delivered_at__isnull', True)), _connector='OR'), name='hookdelivery_delivered_with_time')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='idempotency_keys', to='access.apitoken')),
                ('key', models.CharField(max_length=200)),
                ('request_hash', models.CharField(help_text='SHA-256 of the method, the address and what was sent.', max_length=64)),
                ('made_at', models.DateTimeField()),
                ('status', models.PositiveSmallIntegerField(help_text='Of the answer.', null=True)),
                ('answer', models.JSONField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['made_at'], name='idempotencykey_by_age')],
                'constraints': [models.UniqueConstraint(fields=('token', 'key'), name='idempotencykey_once_per_token'), models.CheckConstraint(condition=models.Q(models.Q(('key', ''), _negated=True), models.Q(('request_hash', ''), _negated=True)), name='idempotencykey_names_request'), models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', True), ('status__isnull', True)), models.Q(('answer__isnull', False), ('status__range', (200, 299))), _connector='OR'), name='idempotencykey_keeps_success')],
            },
        ),
        migrations.CreateModel(
            name='LogEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, help_text='Empty when a command or a periodic task acted.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('action', models.CharField(help_text='Dotted, e.g. "study.opened".', max_length=60)),
                ('subject', models.CharField(help_text='Kind and public name, e.g. "study demo".', max_length=120)),
                ('before', models.JSONField(blank=True, default=dict)),
                ('after', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'verbose_name_plural': 'log entries',
                'indexes': [models.Index(fields=['subject', 'at'], name='logentry_by_subject')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('action', ''), _negated=True), models.Q(('subject', ''), _negated=True)), name='logentry_names_act_and_subject')],
            },
        ),
        migrations.CreateModel(
            name='Member',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='member', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('ANALYST', 'Analyst: reads everything, changes nothing'), ('MANAGER', 'Manager: runs studies'), ('OWNER', "Owner: also people's data, members and keys")], max_length=7)),
                ('since', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['ANALYST', 'MANAGER', 'OWNER'])), name='member_role_known')],
            },
        ),
    ]
