"""The table of human labels: one row a case and annotator. Apart from `labels`, which needs numpy, of an extra."""

import pyarrow as pa

LABELS = pa.schema(
    [
        pa.field("case_id", pa.string(), nullable=False),
        pa.field("annotator", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
    ]
)

DECISIVE_MESSAGE = pa.field("decisive_message", pa.int32())
"""A column that labels may have too: the message, from 0 in the source, that the annotator names as the first that went
wrong."""

LABEL_FACTS = pa.schema([DECISIVE_MESSAGE, pa.field("outcome_correct", pa.bool_())])
"""All columns that a table may have beside those of `LABELS`: that message; whether the outcome is correct all the
same."""
