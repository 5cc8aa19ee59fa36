"""E-mail → its subject and the text that was written."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from pipelines.formats.contract import FormatError
from pipelines.formats.decode import Encoding, decode, decode_as
from pipelines.formats.html import read_html

_SHOWN = ("From", "To", "Cc", "Date")


def read_mail(content: bytes) -> tuple[str | None, str]:
    """Subject and text: who wrote to whom and when, then the plain body, or else the readable HTML one.

    Attachments are left out. Raises FormatError (`malformed`) when there is no header.
    """
    message = message_from_bytes(content, policy=default)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise FormatError("malformed", "the e-mail has no header")
    subject = " ".join(str(message.get("Subject", "")).split())
    head = [f"{name}: {' '.join(str(message[name]).split())}" for name in _SHOWN if message[name]]
    body = message.get_body(("plain", "html"))
    text = _text(body) if isinstance(body, EmailMessage) else ""
    return subject or None, "\n\n".join(part for part in (subject, "\n".join(head), text) if part)


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    charset = part.get_content_charset()
    try:
        text = decode_as(payload, Encoding(charset)) if charset else decode(payload)
    except (LookupError, FormatError):
        text = decode(payload)
    return read_html(text)[1] if part.get_content_subtype() == "html" else text.strip()
