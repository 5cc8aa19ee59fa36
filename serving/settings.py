"""Settings of the server, from arguments or from environment variables that begin with TUDASTAR_."""

from __future__ import annotations

import ipaddress
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from serving.errors import StartupError
from serving.identity import LOCAL_USER
from serving.work.limits import JobLimits

SHORTEST_TOKEN = 16
"""Characters; a shorter token can be guessed."""

Names = Annotated[tuple[str, ...], NoDecode]
"""In the environment: separated by commas."""
Words = Annotated[tuple[str, ...], NoDecode]
"""In the environment: separated by spaces, quoted as in a shell."""


class ModelSettings(BaseModel):
    """An OpenAI-compatible server; without a base URL the offline assistant answers."""

    model_config = ConfigDict(frozen=True)

    base_url: str | None = None
    """Of an OpenAI-compatible server, as `http://127.0.0.1:8000/v1`; without it answers quote the documents."""
    api_key: SecretStr | None = None
    """What the server wants as its key."""
    model: str | None = None
    """A name that the server lists under `/v1/models`."""
    structured_output: Literal["json_schema", "json_object_schema", "json_object", "none"] = "json_schema"
    """How the server is told to answer in JSON: `json_schema`, `json_object_schema`, `json_object` or `none`."""
    max_tokens: int | None = Field(default=None, gt=0)
    """Longest answer; by default as the server has it."""
    total_seconds: float = Field(default=180.0, gt=0)
    """Time of one call, tries again included."""
    max_concurrency: int = Field(default=8, gt=0)
    """Calls at once."""

    @model_validator(mode="after")
    def _model_is_named(self) -> Self:
        if self.base_url and not self.model:
            raise ValueError(
                "a language model server is set but no model: set TUDASTAR_LLM__MODEL to a name that "
                "the server lists under /v1/models, or unset TUDASTAR_LLM__BASE_URL"
            )
        return self


class Limits(BaseModel):
    """Bounds that keep one request from harming the others."""

    model_config = ConfigDict(frozen=True)

    message_length: int = Field(default=8000, gt=0)
    """Code points of a question."""
    body_bytes: int = Field(default=256 * 1024, gt=0)
    """Of a request's body."""
    concurrent_tools: int = Field(default=4, gt=0)
    """Tools of one request that run at once."""
    tool_seconds: float = Field(default=30.0, gt=0)
    """Time of one tool; past it the tool counts as failed."""
    hops: int = Field(default=1, ge=0, le=8)
    """Rounds of further sub-queries that a model may ask from what was found."""
    history_tokens: int = Field(default=1500, ge=0)
    """Size of the conversation that a question is understood and answered in, estimated from its characters."""
    answer_wait_seconds: float = Field(default=120.0, gt=0)
    """So long an answer to a question waits for work that still goes on in its chat."""
    context_tokens: int = Field(default=6000, gt=0)
    """Size of the final context, estimated from its characters."""
    keepalive_seconds: float = Field(default=15.0, gt=0)
    """A silent stream carries a comment this often."""
    stall_seconds: float = Field(default=120.0, gt=0)
    """A client that takes in nothing for so long, though more waits for it, is cut off (on Linux)."""
    shutdown_seconds: float = Field(default=5.0, ge=0)
    """Time that open streams are given to end when the server stops."""


class Settings(BaseSettings):
    """All settings. `TUDASTAR_PORT=9000`; nested ones with two underscores: `TUDASTAR_LLM__MODEL=…`."""

    model_config = SettingsConfigDict(
        env_prefix="TUDASTAR_", env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    store: Path = Path("data/store")
    """Folder of the stores."""
    host: str = "127.0.0.1"
    """Address to listen on. Any but a loopback address needs a token."""
    port: int = Field(default=8765, ge=0, le=65535)
    """0 takes a free one."""
    token: SecretStr | None = None
    """When set, every call under /api needs it as `Authorization: Bearer`."""
    users: dict[str, SecretStr] = Field(default_factory=dict)
    """Users, each with a token of his own: `TUDASTAR_USERS__ANNA=…`; what one owns no other one sees."""
    state: str | None = None
    """Address of the database of chats and jobs; by default a SQLite file beside the store."""
    ingestion_roots: Names = ()
    """Folders from which users may ingest over REST; none: they may not at all."""
    ingestion_engine: Literal["auto", "spark", "local"] = "auto"
    """What runs ingestions that are started over REST: `auto`, `spark` or `local`."""
    spark_submit: Words = ()
    """Command line that starts them on Spark, as `spark-submit --master yarn`; none: a process of this machine."""
    question_hours: float = Field(default=24.0, gt=0)
    """After so long a question to the user can no longer be answered."""
    allowed_hosts: Names = ()
    """Further host names under which browsers may reach the server, as behind a proxy."""
    cors_origins: Names = ()
    """Origins of other web pages that may call the API; none by default."""
    cors_credentials: bool = False
    """Whether those pages may send cookies and the like."""
    plugins: Names = ()
    """Modules or folders with tools, beside the installed plugins."""
    tools: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Settings of tools: `<SECTION>__<KEY>`, as `services.settings(section)` gives them."""
    domain_prompts: Path | None = None
    """Folder of what a model is told about a domain: `<language>/<domain>.md`."""
    trace: bool = False
    """Send the trace with every answer, also when the request does not ask for it."""
    llm: ModelSettings = ModelSettings()
    limits: Limits = Limits()
    jobs: JobLimits = JobLimits()

    @field_validator("spark_submit", mode="before")
    @classmethod
    def _split_as_a_shell(cls, value: object) -> object:
        return tuple(shlex.split(value)) if isinstance(value, str) else value

    @field_validator("allowed_hosts", "cors_origins", "plugins", "ingestion_roots", mode="before")
    @classmethod
    def _split_at_commas(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("token", mode="after")
    @classmethod
    def _empty_is_none(cls, value: SecretStr | None) -> SecretStr | None:
        return value if value is not None and value.get_secret_value().strip() else None

    @property
    def is_loopback(self) -> bool:
        """Whether the server listens on this machine alone."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def tokens(self) -> dict[str, str]:
        """The tokens by user; empty when none is needed."""
        given = {LOCAL_USER: self.token} if self.token is not None else {}
        return {user: token.get_secret_value() for user, token in {**given, **self.users}.items()}

    def check(self) -> None:
        """Raises StartupError where the server would stand open to others."""
        if not self.is_loopback and not self.tokens:
            raise StartupError(
                f"the server will not listen on {self.host} without a token, since everybody on the network "
                "could then read the store: set TUDASTAR_TOKEN (for instance the output of "
                "`openssl rand -hex 32`), or listen on 127.0.0.1"
            )
        for user, token in self.tokens.items():
            if len(token) < SHORTEST_TOKEN:
                raise StartupError(
                    f"the token of user {user!r} is shorter than {SHORTEST_TOKEN} characters, so it can be guessed: "
                    "make a new one, for instance with `openssl rand -hex 32`"
                )
        if len(set(self.tokens.values())) < len(self.tokens):
            raise StartupError("two users have one token: give each a token of his own")
        if self.cors_credentials and "*" in self.cors_origins:
            raise StartupError(
                "cors_origins '*' together with cors_credentials would let every web page act in a user's "
                "name: name the origins, or switch the credentials off"
            )
