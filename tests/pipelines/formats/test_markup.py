from __future__ import annotations

import pytest

from pipelines.formats.contract import FormatError
from pipelines.formats.html import read_html
from pipelines.formats.mail import read_mail
from pipelines.formats.markdown import readable


def test_scripts_styles_and_menus_do_not_leak() -> None:
    page = (
        "<html><head><title> A\n cím </title><style>p{}</style></head><body><nav>Menü</nav>"
        "<div>Body</div><script>evil()</script><noscript>no</noscript><template>t</template>"
        "<p hidden>x</p><!-- y --></body></html>"
    )
    assert read_html(page) == ("A cím", "Body")


def test_blocks_tables_and_lists_are_readable() -> None:
    page = (
        "<h1>Kórház</h1><p>Egy&nbsp;bekezdés<br>új sor, <b>kö</b>vér.</p><ul><li>egy</li><li>kettő</li></ul>"
        "<table><tr><th>Nap</th><th>Óra</th></tr><tr><td>hétfő</td><td>8–16</td></tr></table><pre>a  b\n c</pre>"
    )
    title, text = read_html(page)
    assert title == "Kórház"
    assert [line for line in text.split("\n") if line] == [
        "Kórház",
        "Egy bekezdés",
        "új sor, kövér.",
        "egy",
        "kettő",
        "Nap\tÓra",
        "hétfő\t8–16",
        "a b",
        "c",
    ]


@pytest.mark.parametrize("page", ["", "<", "<p>nyitva", "</div></p>", "<table><td>cella", "csak szöveg"])
def test_broken_pages_are_read_all_the_same(page: str) -> None:
    assert isinstance(read_html(page)[1], str)


def test_a_page_nested_without_end_is_refused() -> None:
    with pytest.raises(FormatError, match="nested"):
        read_html("<div>" * 200_000 + "x")


def test_markdown_becomes_readable() -> None:
    text = (
        "# Cím #\nEgy **félkövér** és *dőlt*, __szó__, a_b_c, 2*3*4, [link](http://x.y) ![kép](a.png)\n> idézet\n"
        "- elem `kód`\n* másik\n\n| a | b |\n|---|:--|\n| 1 | 2 |\n```py\nx = 1\n```\n<!-- rejtett -->"
        "\\*csillag\\* <https://x.y>\n[1]: http://x\nvége"
    )
    assert readable(text) == (
        "Cím\nEgy félkövér és dőlt, szó, a_b_c, 2*3*4, link kép\nidézet\n"
        "- elem kód\n* másik\n\na\tb\n1\t2\nx = 1\n*csillag* https://x.y\nvége"
    )


def test_a_mail_gives_its_subject_and_plain_body() -> None:
    mail = (
        b"From: =?utf-8?q?Kov=C3=A1cs?= <k@x.hu>\r\nTo: b@x.hu\r\nSubject: =?iso-8859-2?q?=D5sz?=\r\n"
        b'MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="B"\r\n\r\n'
        b'--B\r\nContent-Type: text/plain; charset="iso-8859-2"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n'
    ) + "Tűz van.\r\n--B\r\nContent-Type: text/html\r\n\r\n<p>Tűz</p>\r\n--B--\r\n".encode("iso8859-2")
    assert read_mail(mail) == ("Ősz", "Ősz\n\nFrom: Kovács <k@x.hu>\nTo: b@x.hu\n\nTűz van.")


def test_a_mail_with_html_alone_is_readable() -> None:
    mail = b"Subject: x\nContent-Type: text/html; charset=nonsense\n\n<style>p{}</style><p>Szia</p>"
    assert read_mail(mail) == ("x", "x\n\nSzia")
