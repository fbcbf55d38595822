"""URLs in messages."""

from jury_events.text.visible_text import visible_line


def visible_url(url: str) -> str:
    """The URL without user, password, query and fragment, which may be secret; a path unchanged."""
    head, mark, rest = url.partition("://")
    if not mark:
        return visible_line(url)
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    port = authority.rpartition(":")[2]
    if "@" in authority or ("@" in rest and ":" in authority and not port.isdigit()):
        rest = rest.rpartition("@")[2]  # a password may include the characters that end an authority
    return visible_line(f"{head}://{rest.partition('?')[0].partition('#')[0]}")
