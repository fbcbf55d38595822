"""What a browser is shown in place of a page: that there is none, or that the visitor may not see it yet."""

from starlette.requests import Request
from starlette.responses import HTMLResponse

from jury_web.pages.page_request import PageRequest

NO_PAGE = "no_page"
AFTER_YOUR_VERDICT = "after_your_verdict"
"""Labels of what is said."""


def problem_page(request: Request, status: int, label: str, debate_id: str | None = None) -> HTMLResponse:
    """The page.

    Args:
        request: of the page.
        status: of the answer.
        label: what is said.
        debate_id: the debate to review first, if one was asked for.
    """
    return PageRequest.of(request).html("problem.html", "", status, said=label, debate_id=debate_id)
