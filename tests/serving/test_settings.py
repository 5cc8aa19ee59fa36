from __future__ import annotations

import socket
from pathlib import Path

import pytest
from pydantic import ValidationError

from serving.errors import StartupError
from serving.server import open_listener, serve
from serving.settings import Settings

TOKEN = "0123456789abcdef0123"


def test_r13_0_loopback_by_default_needs_no_token() -> None:
    settings = Settings(_env_file=None)
    settings.check()
    assert (settings.host, settings.port, settings.token) == ("127.0.0.1", 8765, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", ""])
def test_r13_0_any_other_address_needs_a_token(host: str) -> None:
    with pytest.raises(StartupError, match=r"will not listen on .* without a token.*TUDASTAR_TOKEN"):
        serve(Settings(_env_file=None, host=host))
    Settings(_env_file=None, host=host, token=TOKEN).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LOCALHOST"])
def test_r13_0_loopback_addresses(host: str) -> None:
    assert Settings(_env_file=None, host=host).is_loopback


def test_a_short_token_is_refused() -> None:
    with pytest.raises(StartupError, match="shorter than 16"):
        Settings(_env_file=None, token="secret").check()


def test_cors_for_all_with_credentials_is_refused() -> None:
    with pytest.raises(StartupError, match="every web page"):
        Settings(_env_file=None, cors_origins="*", cors_credentials=True).check()


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "STORE": "/srv/store",
        "PLUGINS": "one.tools, two",
        "TOKEN": " ",
        "LIMITS__TOOL_SECONDS": "2.5",
        "LLM__BASE_URL": "http://127.0.0.1:9/v1",
        "LLM__MODEL": "small",
        "LLM__API_KEY": "sk-very-secret",
    }.items():
        monkeypatch.setenv(f"TUDASTAR_{name}", value)
    settings = Settings(_env_file=None)
    assert (settings.store, settings.plugins, settings.token) == (
        Path("/srv/store"),
        ("one.tools", "two"),
        None,
    )
    assert (settings.limits.tool_seconds, settings.llm.model) == (2.5, "small")
    assert "sk-very-secret" not in repr(settings)


def test_a_model_server_needs_a_model() -> None:
    with pytest.raises(ValidationError, match="TUDASTAR_LLM__MODEL"):
        Settings(_env_file=None, llm={"base_url": "http://127.0.0.1:9/v1"})


def test_a_taken_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(_env_file=None, port=taken.getsockname()[1])
        with pytest.raises(StartupError, match="choose another port with TUDASTAR_PORT"):
            open_listener(settings)
