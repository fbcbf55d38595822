"""All labels of the pages, by the language of the reader."""

from typing import get_args

from jury_events.panel import Language
from jury_views.debate_labels import DebateLabels
from jury_views.drift_labels import DriftLabels
from jury_views.evidence_labels import EvidenceLabels
from jury_views.statistics_labels import StatisticsLabels
from jury_web.pages.labels.cited_items import CitedItemLabels
from jury_web.pages.labels.compare_page import CompareLabels
from jury_web.pages.labels.debate_list import ListLabels
from jury_web.pages.labels.debate_page import DebatePageLabels
from jury_web.pages.labels.events_page import EventsLabels
from jury_web.pages.labels.exchange_page import ExchangeLabels
from jury_web.pages.labels.gate import GateLabels
from jury_web.pages.labels.integrity import IntegrityLabels
from jury_web.pages.labels.item_strip import ItemStripLabels
from jury_web.pages.labels.review_pages import ReviewPageLabels
from jury_web.pages.labels.run_page import RunLabels
from jury_web.pages.labels.site import SiteLabels
from jury_web.pages.labels.transcript import TranscriptLabels


class PageLabels(
    DebateLabels,
    CitedItemLabels,
    CompareLabels,
    ListLabels,
    DebatePageLabels,
    DriftLabels,
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
