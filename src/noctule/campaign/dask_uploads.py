"""Input files on their way to Dask workers that do not see them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client, Future

from noctule.campaign.dask_task import content
from noctule.campaign.inputs import InputFiles
from noctule.campaign.specs import FileRef
from noctule.errors import InputError


@dataclass(slots=True)
class _Upload:
    """A content that is a task of Dask as long as somebody needs it."""

    sha256: str
    n_bytes: int
    submission: asyncio.Task[Future[bytes]]
    n_users: int = 0

    @property
    def is_broken(self) -> bool:
        """Whether Dask has given it up."""
        submission = self.submission
        if not submission.done():
            return False
        failed = submission.cancelled() or submission.exception() is not None
        return failed or submission.result().status not in ("pending", "finished")

    def release(self) -> None:
        """Let Dask forget it."""
        if not self.submission.done():
            self.submission.cancel()
        elif not self.submission.cancelled() and self.submission.exception() is None:
            self.submission.result().release()


class Uploads:
    """Contents as tasks, one each: Dask takes them to every worker that needs them, once.

    Whatever the number of runs, only some of the contents are under way at a time.
    """

    most_bytes = 256 * 2**20

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inputs = InputFiles()
        self._under_way: dict[str, _Upload] = {}
        self._ended = asyncio.Condition()

    @asynccontextmanager
    async def sent(self, files: Sequence[FileRef]) -> AsyncIterator[list[Future[bytes]]]:
        """Give the contents of files as futures, which hold for the time of the block."""
        sizes = {file: await asyncio.to_thread(self._size_of, file) for file in files}
        async with self._ended:
            await self._ended.wait_for(lambda: self._fits(sizes))
            uploads = [self._begun(file, n_bytes) for file, n_bytes in sizes.items()]
        try:
            yield [await upload.submission for upload in uploads]
        finally:
            async with self._ended:
                for upload in uploads:
                    self._left(upload)
                self._ended.notify_all()

    def _fits(self, sizes: dict[FileRef, int]) -> bool:
        new = {file.sha256: n for file, n in sizes.items() if file.sha256 not in self._under_way}
        n_bytes = sum(upload.n_bytes for upload in self._under_way.values())
        return not self._under_way or n_bytes + sum(new.values()) <= self.most_bytes

    def _begun(self, file: FileRef, n_bytes: int) -> _Upload:
        upload = self._under_way.get(file.sha256)
        if upload is None or upload.is_broken:
            submission = asyncio.ensure_future(self._submitted(file))
            upload = _Upload(file.sha256, n_bytes, submission)
            self._under_way[file.sha256] = upload
        upload.n_users += 1
        return upload

    def _left(self, upload: _Upload) -> None:
        upload.n_users -= 1
        if upload.n_users == 0:
            upload.release()
            if self._under_way.get(upload.sha256) is upload:
                del self._under_way[upload.sha256]

    async def _submitted(self, file: FileRef) -> Future[bytes]:
        value = await asyncio.to_thread(self._read, file)
        key = f"noctule_input-{uuid.uuid4()}"
        future: Future[bytes] = self._client.submit(content, value, key=key)
        # a run must not overtake what it depends on
        await future.exception()
        return future

    def _size_of(self, file: FileRef) -> int:
        with _reading(file):
            return Path(self._inputs.path_of(file)).stat().st_size

    def _read(self, file: FileRef) -> bytes:
        with _reading(file):
            return Path(self._inputs.path_of(file)).read_bytes()


@contextmanager
def _reading(file: FileRef) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{file.path}: cannot be read: {error.strerror or error}") from None
