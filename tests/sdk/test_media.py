"""Images: inline, three kinds, within the limits; refused loudly where only text is understood."""

import base64

import pytest

from tests.sdk.conftest import add_body
from tests.sdk.systems import Found, Recorded

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 30
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 30
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8 " + b"\x00" * 30


def url(data, label="image/png"):
    return f"data:{label};base64,{base64.b64encode(data).decode()}"


def image(address):
    return {"type": "image_url", "image_url": {"url": address}}


def picture(address):
    return [{"type": "text", "text": "look"}, image(address)]


@pytest.fixture
def server(serve):
    return serve(Found(), max_image=1000, max_images=2500)


@pytest.mark.parametrize(
    "address",
    [
        url(PNG),
        url(JPEG, "image/jpeg"),
        url(WEBP, "image/webp"),
        url(PNG, "image/jpeg"),  # the label is not believed
        url(JPEG, "image/jpg"),
        url(PNG).replace("data:image", "DATA:IMAGE"),
        url(PNG + b"\x00" * (1000 - len(PNG))),
    ],
)
def test_good_images_are_taken(server, address):
    assert server.add(picture(address)).status_code == 200
    assert server.search(picture(address)).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/cat.png",
        "http://127.0.0.1:1/cat.png",
        "file:///etc/passwd",
        "data:image/png,raw",
        "",
        url(b"GIF89a" + b"\x00" * 30, "image/gif"),
        url(b""),
        url(PNG)[:-1],
        url(PNG) + "!",
        url(PNG).replace(",", ",\n"),
        url(PNG + b"\x00" * (1001 - len(PNG))),
    ],
)
def test_bad_images_are_422_by_place(server, address):
    answer = server.add("text", picture(address))
    assert answer.status_code == 422
    assert answer.json()["detail"]["reason"].startswith("messages.1.content: image 1")
    assert server.search(picture(address)).status_code == 422


def test_all_images_together_have_a_limit(server):
    big = url(PNG + b"\x00" * (1000 - len(PNG)))
    assert server.add(picture(big), picture(big), request_id="two").status_code == 200
    assert server.add(picture(big), picture(big), picture(big), request_id="3").status_code == 422


def test_a_text_only_system_refuses_images_loudly(serve):
    system = Recorded()
    server = serve(system)
    answer = server.add("text", picture(url(PNG)))
    assert answer.status_code == 422
    assert "text only" in answer.json()["detail"]["reason"]
    assert server.search(picture(url(PNG))).status_code == 422
    assert system.calls == []


def test_text_parts_are_taken_by_all(serve):
    system = Recorded()
    server = serve(system)
    assert server.add([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).is_success
    assert server.contents() == ["a\nb"]


def test_the_largest_legal_add_passes(serve):
    """Three images of 9.9 MiB: 40 MiB of JSON."""
    server = serve(Found())
    big = url(PNG + b"\x00" * (9_900_000 - len(PNG)))
    body = add_body(*[picture(big)] * 3)
    assert server.post("/add", body).status_code == 200
