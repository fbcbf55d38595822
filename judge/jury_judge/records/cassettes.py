"""Debates taken out of a store as files, and into it."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from jury_judge.records.open_store import OpenStore, check_debate_id, log_line
from jury_judge.records.verification import Progress
from jury_judge.store_access.stores import WRITER_WAIT, Say

if TYPE_CHECKING:
    from jury_judge.recorded_debates.exporting import ExportedDocument, ExportedFiles, Render
    from jury_judge.recorded_debates.importing import Imported
    from jury_judge.settings.debates import Selection
    from jury_store.seals.keys import PublicKey


class CassetteRecords(OpenStore):
    """Cassettes, pages and tables of debates."""

    async def cassette(self, debate_id: str, *, key_file: Path | None = None, say: Say = log_line) -> bytes:
        """The cassette of a debate: every event, every text and the seal of its log (docs/cassettes.md).

        Args:
            key_file: the private key that signs how long its streams are; None: the cassette does not say.
        """
        from jury_judge.recorded_debates.exporting import cassette

        check_debate_id(debate_id)
        return await self._read(cassette, debate_id, key_file, say)

    async def page(self, debate_id: str, render: "Render", *, say: Say = log_line) -> "ExportedDocument":
        """A debate as one page, by what `render` makes of its history and of whether it is intact.

        Args:
            say: takes a line where the record was altered.
        """
        from jury_judge.recorded_debates.exporting import page

        check_debate_id(debate_id)
        return await self._read(page, debate_id, render, say)

    async def export_cassettes(
        self,
        selection: "Selection",
        output: str | Path = ".",
        *,
        key_file: Path | None = None,
        progress: Progress | None = None,
        say: Say = log_line,
    ) -> "ExportedFiles":
        """Write each debate as a cassette; a cassette that is there is replaced where it differs.

        Args:
            output: a folder, made where it is missing; for one debate a file, unless it is a folder or ends with `/`.
            key_file: the private key that signs how long the streams are, and when; None: no cassette says it.
            progress: called with the number of debates done so far.
            say: takes a line for each debate that is not written, with the reason.

        Raises:
            OutputPathTaken: there is a file of another kind.
            CassetteError: a file cannot be written.
            SealError: the key cannot be read, or is none.
        """
        from jury_judge.recorded_debates.exporting import export_cassettes

        return await self._read(export_cassettes, selection.debates, str(output), key_file, progress=progress, say=say)

    async def export_pages(
        self,
        selection: "Selection",
        output: str | Path,
        render: "Render",
        *,
        progress: Progress | None = None,
        say: Say = log_line,
    ) -> "ExportedFiles":
        """Write each debate as a page, also one whose record was altered; arguments and errors as `export_cassettes`.

        `say` takes a line for each altered debate, too.
        """
        from jury_judge.recorded_debates.exporting import export_pages

        return await self._read(export_pages, selection.debates, str(output), render, progress=progress, say=say)

    async def export_tables(
        self,
        selection: "Selection",
        folder: Path,
        *,
        form: Literal["parquet", "csv"] = "parquet",
        texts: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, int]:
        """Write debates, ballots, exchanges, evidence and labels as files (docs/python-api.md); the rows of each table.

        Args:
            folder: made where it is missing; files of an earlier export are replaced at the end.
            texts: with the texts of cases, requests, answers and quotations.
            progress: called with the number of debates done so far.

        Raises:
            OutputPathTaken: a file of that name is none of such an export.
            OSError: a file cannot be written.
        """
        from jury_judge.recorded_debates.exporting import tables

        return await self._read(tables, selection.debates, folder, form=form, texts=texts, progress=progress)

    async def export_debates(
        self,
        selection: "Selection",
        output: Path | BinaryIO,
        *,
        texts: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the table of debates alone as CSV (docs/reference/tables.md); how many rows it has.

        Args:
            output: a file, which replaces an older one of this table at the end; or what takes the bytes.
            progress: called with the number of debates done so far.
        """
        from jury_judge.recorded_debates.exporting import debates_csv

        return await self._read(debates_csv, selection.debates, output, texts, progress)

    async def import_cassettes(
        self,
        paths: Sequence[Path],
        *,
        keys: "Collection[PublicKey]" = (),
        checkpoint: bytes | None = None,
        erase: bool = False,
        progress: Progress | None = None,
        say: Say = log_line,
    ) -> "Imported":
        """Add the debates of cassettes to the store, which need not be open; one that is missing is created.

        Importing again changes nothing. Every cassette is verified first; one that does not verify, or that is another
        debate under a known id, is refused, and the others go on.

        Args:
            keys: take only debates that are whole under a seal by one of these keys.
            checkpoint: take only debates sealed by this checkpoint, which was kept elsewhere.
            erase: let a cassette erase texts here that its origin erased; `keys` allow it too.
            progress: called with the number of cassettes taken so far.
            say: takes a line for each refused cassette, and one where erased texts may still be in the store's files.

        Raises:
            CassetteError: there is no such path, or a folder has no cassette.
            BadNote: the checkpoint is none.
        """
        from jury_judge.recorded_debates.importing import CassetteAdmission, import_cassettes

        admission = CassetteAdmission.of(keys, checkpoint, erase=erase)
        return await self._blocking(
            import_cassettes, self.store_url, paths, admission, wait=WRITER_WAIT, progress=progress, say=say
        )
