from jury_migrations.upgrading import check as check
from jury_migrations.upgrading import current as current
from jury_migrations.upgrading import upgrade as upgrade
