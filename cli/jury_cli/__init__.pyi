from jury_cli.main import COMMANDS as COMMANDS
from jury_cli.results import Results as Results
