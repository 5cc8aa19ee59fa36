"""Jobs in the database: accepted, claimed by one process each, ended once."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, delete, func, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.database import Database, whole_transactions
from serving.state.tables import idempotency_keys, jobs, servers
from serving.work.errors import job_ended, too_many_jobs, unknown_job
from serving.work.idempotency import IdempotencyKey, first_reference
from serving.work.records import OPEN, Job, JobEnd, JobKind, JobStatus

_JOB_ID = re.compile(r"[0-9a-f]{32}")


@whole_transactions
class JobStore:
    """The jobs of one kind. Every method is one short transaction.

    What a process writes about a running job counts only while the job is its own: of two that hold a job for
    theirs, since one was thought dead, the later one wins.
    """

    def __init__(self, database: Database, server_id: str, kind: JobKind) -> None:
        self._database = database
        self._server_id = server_id
        self.kind = kind

    async def submit(
        self,
        owner: str,
        name: str,
        parameters: Mapping[str, Any],
        *,
        key: IdempotencyKey | None = None,
        most_open: int,
    ) -> tuple[Job, bool]:
        """Accept a job; with the key of an earlier request give that one's. The second value says if it is new.

        Raises ApiError: 422 when the key stands for another request, 429 when `most_open` of the owner's jobs have not
        ended.
        """
        job_id = uuid.uuid4().hex
        async with self._database.writing() as connection:
            if key is not None and (first := await first_reference(connection, key, job_id)) != job_id:
                return await _job(connection, jobs.c.job_id == first), False
            await self._check_room(connection, owner, most_open)
            row = {
                "job_id": job_id,
                "owner": owner,
                "kind": self.kind,
                "name": name,
                "status": JobStatus.QUEUED,
                "server_id": self._server_id,
                "parameters": dict(parameters),
                "created_at": time.time(),
            }
            await connection.execute(insert(jobs).values(row))
            return await _job(connection, jobs.c.job_id == job_id), True

    async def get(self, owner: str, job_id: str) -> Job:
        """One job. Raises ApiError (404)."""
        async with self._database.reading() as connection:
            return await self._owned(connection, owner, job_id)

    async def counts(self) -> dict[str, int]:
        """How many jobs of all owners there are, by status."""
        query = select(jobs.c.status, func.count()).where(jobs.c.kind == self.kind).group_by(jobs.c.status)
        async with self._database.reading() as connection:
            return {str(status): count for status, count in (await connection.execute(query)).all()}

    async def page(self, owner: str, limit: int, before: tuple[float, str] | None = None) -> list[Job]:
        """An owner's jobs, newest first; those before a (created_at, job_id)."""
        query = select(jobs).where(jobs.c.owner == owner, jobs.c.kind == self.kind)
        if before is not None:
            query = query.where(tuple_(jobs.c.created_at, jobs.c.job_id) < tuple_(*before))
        query = query.order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc()).limit(limit)
        return await self._jobs(query)

    async def request_cancel(self, owner: str, job_id: str) -> Job:
        """Cancel a waiting job, or ask for a running one to be cancelled; of a cancelled one nothing more.

        Raises ApiError: 404, and 409 when the job has ended otherwise.
        """
        async with self._database.writing() as connection:
            job = await self._owned(connection, owner, job_id, lock=True)
            if job.status not in (*OPEN, JobStatus.CANCELLED):
                raise job_ended(job)
            values: dict[str, Any] = {"cancel_requested": 1}
            if job.status is JobStatus.QUEUED:
                values |= {"status": JobStatus.CANCELLED, "finished_at": time.time()}
            await connection.execute(update(jobs).where(jobs.c.job_id == job_id).values(values))
            return await _job(connection, jobs.c.job_id == job_id)

    async def claim(self, names: Collection[str] | None = None) -> Job | None:
        """The job that has waited longest, now RUNNING here; None when there is none of these names."""
        waiting = and_(jobs.c.kind == self.kind, jobs.c.status == JobStatus.QUEUED)
        if names is not None:
            waiting = and_(waiting, jobs.c.name.in_(names))
        query = select(jobs.c.job_id).where(waiting).order_by(jobs.c.created_at, jobs.c.job_id).limit(1)
        while True:
            async with self._database.reading() as connection:
                job_id = (await connection.execute(query)).scalar()
            if job_id is None:
                return None
            own = and_(jobs.c.job_id == job_id, jobs.c.status == JobStatus.QUEUED)
            values = {
                "status": JobStatus.RUNNING,
                "server_id": self._server_id,
                "started_at": time.time(),
                "pid": None,
                "pid_started": None,
            }
            async with self._database.writing() as connection:
                changed = await connection.execute(update(jobs).where(own).values(values))
                if changed.rowcount:
                    return await _job(connection, jobs.c.job_id == job_id)

    async def note(self, job_id: str, **values: Any) -> None:
        """Set columns of a job that runs here: its progress, its process."""
        async with self._database.writing() as connection:
            await connection.execute(update(jobs).where(self._own(job_id)).values(values))

    async def cancel_requests(self) -> set[str]:
        """Ids of the jobs running here that are to be cancelled."""
        query = select(jobs.c.job_id).where(
            jobs.c.kind == self.kind,
            jobs.c.status == JobStatus.RUNNING,
            jobs.c.server_id == self._server_id,
            jobs.c.cancel_requested == 1,
        )
        async with self._database.reading() as connection:
            return set((await connection.execute(query)).scalars())

    async def finish(
        self, job_id: str, end: JobEnd, *, progress: Mapping[str, Any] | None = None, cancel_wins: bool = True
    ) -> None:
        """End a job that runs here. With `cancel_wins`, one whose cancelling was accepted ends CANCELLED."""
        async with self._database.writing() as connection:
            query = select(jobs.c.cancel_requested).where(self._own(job_id)).with_for_update()
            cancelled = (await connection.execute(query)).scalar()
            if cancelled and cancel_wins:
                end = JobEnd(JobStatus.CANCELLED)
            values = {
                "status": end.status,
                "result": end.result,
                "error": end.error,
                "finished_at": time.time(),
            }
            if progress is not None:
                values["progress"] = dict(progress)
            await connection.execute(update(jobs).where(self._own(job_id)).values(values))

    async def requeue(self, job_id: str, progress: Mapping[str, Any]) -> None:
        """Put a job that runs here back in line; one whose cancelling was accepted ends."""
        values = {"status": JobStatus.QUEUED, "started_at": None, "progress": dict(progress)}
        cancelled = {"status": JobStatus.CANCELLED, "finished_at": time.time()}
        asked = jobs.c.cancel_requested == 1
        async with self._database.writing() as connection:
            await connection.execute(update(jobs).where(self._own(job_id), asked).values(cancelled))
            await connection.execute(update(jobs).where(self._own(job_id), ~asked).values(values))

    async def orphans(self) -> list[Job]:
        """Jobs that have not ended, of processes that are no longer there."""
        query = select(jobs).where(
            jobs.c.kind == self.kind,
            jobs.c.status.in_(OPEN),
            jobs.c.server_id != self._server_id,
            jobs.c.server_id.not_in(select(servers.c.server_id)),
        )
        return await self._jobs(query)

    async def adopt(self, job: Job) -> bool:
        """Make an orphan a running job of this process; of several that try one can."""
        same = and_(
            jobs.c.job_id == job.job_id, jobs.c.server_id == job.server_id, jobs.c.status == job.status
        )
        async with self._database.writing() as connection:
            values = {"server_id": self._server_id, "status": JobStatus.RUNNING}
            changed = await connection.execute(update(jobs).where(same).values(values))
            return bool(changed.rowcount)

    async def prune(self, owner: str, keep: int) -> list[str]:
        """Drop the owner's ended jobs but the newest ones, with their keys; gives the ids of those dropped."""
        query = (
            select(jobs.c.job_id)
            .where(jobs.c.owner == owner, jobs.c.kind == self.kind, jobs.c.status.not_in(OPEN))
            .order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc())
            .offset(keep)
        )
        async with self._database.writing() as connection:
            old = list((await connection.execute(query)).scalars())
            if old:
                await connection.execute(
                    delete(idempotency_keys).where(idempotency_keys.c.reference.in_(old))
                )
                await connection.execute(delete(jobs).where(jobs.c.job_id.in_(old)))
        return old

    def _own(self, job_id: str) -> Any:
        return and_(
            jobs.c.job_id == job_id,
            jobs.c.status == JobStatus.RUNNING,
            jobs.c.server_id == self._server_id,
        )

    async def _jobs(self, query: Any) -> list[Job]:
        async with self._database.reading() as connection:
            rows: Sequence[Any] = (await connection.execute(query)).all()
        return [Job.of(row) for row in rows]

    async def _owned(
        self, connection: AsyncConnection, owner: str, job_id: str, *, lock: bool = False
    ) -> Job:
        if not _JOB_ID.fullmatch(job_id):
            raise unknown_job(self.kind, job_id)
        own = and_(jobs.c.job_id == job_id, jobs.c.owner == owner, jobs.c.kind == self.kind)
        query = select(jobs).where(own)
        row = (await connection.execute(query.with_for_update() if lock else query)).first()
        if row is None:
            raise unknown_job(self.kind, job_id)
        return Job.of(row)

    async def _check_room(self, connection: AsyncConnection, owner: str, most_open: int) -> None:
        query = select(func.count()).where(
            jobs.c.owner == owner, jobs.c.kind == self.kind, jobs.c.status.in_(OPEN)
        )
        if (await connection.execute(query)).scalar_one() >= most_open:
            raise too_many_jobs(self.kind, most_open)


async def _job(connection: AsyncConnection, where: Any) -> Job:
    return Job.of((await connection.execute(select(jobs).where(where))).one())
