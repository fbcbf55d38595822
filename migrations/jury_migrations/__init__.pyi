from jury_migrations.comparison import check as check
from jury_migrations.logins import DatabaseAddress as DatabaseAddress
from jury_migrations.logins import Login as Login
from jury_migrations.logins import set_up_logins as set_up_logins
from jury_migrations.upgrading import current as current
from jury_migrations.upgrading import upgrade as upgrade
