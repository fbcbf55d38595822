"""All labels of the pages, by the language of the reader."""

from typing import get_args

from jury_events.panel import Language
from jury_views.debate_labels import DebateLabels
from jury_views.run_quotations import EvidenceLabels
from jury_views.statistics_labels import StatisticsLabels
from jury_web.pages.labels.debate_page import (
    CitedItemLabels,
    DebatePageLabels,
    EventsLabels,
    ExchangeLabels,
    ItemStripLabels,
    TranscriptLabels,
)
from jury_web.pages.labels.integrity import IntegrityLabels
from jury_web.pages.labels.review_pages import ReviewPageLabels
from jury_web.pages.labels.run_page import CompareLabels, GateLabels, ListLabels, RunLabels
from jury_web.pages.labels.site import SiteLabels


class PageLabels(
    DebateLabels,
    CitedItemLabels,
    CompareLabels,
    ListLabels,
    DebatePageLabels,
    EventsLabels,
    EvidenceLabels,
    ExchangeLabels,
    GateLabels,
    IntegrityLabels,
    ItemStripLabels,
    ReviewPageLabels,
    RunLabels,
    SiteLabels,
    StatisticsLabels,
    TranscriptLabels,
):
    """Every label that a template may print; no two subjects have one of the same name."""


LABELS: dict[Language, PageLabels] = {language: PageLabels(language) for language in get_args(Language)}
