"""A server on which people review debates that wait for a person."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from jury_events import Review, Verdict
from jury_judge import NewReview, Reviewing, Service
from jury_judge.serving.service import RecordReview
from jury_store import EventStore
from jury_web import AccessPolicy, create_app, page_routes
from support.pages import Page
from support.recorded_reviews import record_review
from support.reviewed import judged_debate

BASE = "http://jury.test"
TOKEN = "the token of the server"
REVIEWERS = {"ann": "the token of ann is long", "bob": "the token of bob is long"}
POLICY = AccessPolicy(frozenset({"jury.test"}), token=TOKEN, reviewers=REVIEWERS)


def waiting(store: EventStore, number: int) -> list[str]:
    """Ids of that many debates that ended with `needs_review`, stored."""
    names = [f"run-1~c{one}" for one in range(1, number + 1)]
    for seed, name in enumerate(names, 1):
        judged_debate(store, name, Verdict.NEEDS_REVIEW, seed=seed, case_id=name.partition("~")[2], run_id="run-1")
    return names


def recorder(store: EventStore) -> RecordReview:
    """Records reviews in a store that is open for writing."""

    async def record(debate_id: str, new: NewReview) -> Review:
        return record_review(store, debate_id, new)

    return record


class Visit:
    """A browser that is logged in with a token, or with none."""

    def __init__(self, client: TestClient, token: str | None) -> None:
        self.client = client
        self.client.cookies.clear()
        if token is not None:
            answer = client.post("/login", data={"token": token}, follow_redirects=False)
            assert 303 == answer.status_code
            self.home = answer.headers["location"]

    def get(self, address: str) -> Page:
        """A page, redirections not followed."""
        return Page(self.client.get(address, headers={"accept": "text/html"}, follow_redirects=False))

    def send(self, address: str, **fields: str) -> Page:
        """The form of the page at `address`, with these fields changed."""
        tree = self.get(address).tree
        form = tree.css_first("form#review")
        hidden = (
            {}
            if form is None
            else {one.attributes["name"]: one.attributes["value"] or "" for one in form.css("[type=hidden]")}
        )
        return Page(self.client.post(address, data={**hidden, **fields}, follow_redirects=False))


@contextmanager
def review_site(
    store: EventStore, *, blind: bool = True, policy: AccessPolicy = POLICY, record: RecordReview | None = None
) -> Iterator[TestClient]:
    """A client of the whole application: middleware, API and pages."""
    reviewing = Reviewing(record or recorder(store), blind=blind)
    service = Service(store, reviewing=reviewing)
    app = create_app(service, policy, page_routes(service))
    with TestClient(app, base_url=BASE) as client:
        yield client
