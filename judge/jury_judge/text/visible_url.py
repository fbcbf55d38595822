"""An address as it may stand in a message."""

from jury_judge.text.visible_text import visible_line


def visible_url(url: str) -> str:
    """The address without user, password, query and fragment, which may be secret; a path as it is."""
    head, mark, rest = url.partition("://")
    if not mark:
        return visible_line(url)
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    port = authority.rpartition(":")[2]
    if "@" in authority or ("@" in rest and ":" in authority and not port.isdigit()):
        rest = rest.rpartition("@")[2]  # a password may hold what elsewhere ends the authority
    return visible_line(f"{head}://{rest.partition('?')[0].partition('#')[0]}")
