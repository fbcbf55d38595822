from jury_web.app import AccessPolicy as AccessPolicy
from jury_web.app import create_app as create_app
from jury_web.app import with_middleware as with_middleware
from jury_web.pages.routing import page_routes as page_routes
from jury_web.server import Address as Address
from jury_web.server import listen as listen
from jury_web.server import serving as serving
from jury_web.token_attempts import TokenAttempts as TokenAttempts
