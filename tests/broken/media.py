"""A server that stores images, and its many wrong variations."""

import base64
import binascii
import json
import urllib.request

from tests.broken.correct import Correct, RefusedError

MIB = 2**20
STARTS = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


class Parts(str):
    """The text of a message, and the parts it came in; they live in memory only."""

    parts = ()


class Multimodal(Correct):
    """Right for images too (clauses M1, M2); nothing of them survives a restart."""

    kills = {}
    track = "multimodal"

    def check_content(self, content):
        if not isinstance(content, list):
            return super().check_content(content)
        parts = [self.object(part, "part") for part in content]
        images = [part for part in parts if part.get("type") == "image_url"]
        texts = [part for part in parts if part.get("type") != "image_url"]
        if not images:
            return super().check_content(content)
        urls = [self.object(part.get("image_url"), "image").get("url") for part in images]
        self.check_sizes([self.decoded(url) for url in urls])
        made = Parts(super().check_content(texts) or "image")
        made.parts = parts
        return made

    def decoded(self, url):
        """The bytes of an image in one of the three formats."""
        head, _, data = str(url).partition(",")
        if not head.startswith("data:") or not head.endswith(";base64"):
            raise RefusedError(422, "images must be inline Base64")
        try:
            image = base64.b64decode(data, validate=True)
        except binascii.Error:
            raise RefusedError(422, "the Base64 is malformed") from None
        self.check_kind(head, image)
        return image

    def check_kind(self, head, image):
        if not image.startswith(tuple(STARTS)):
            raise RefusedError(422, "images must be JPEG, PNG or WebP")

    def check_sizes(self, images):
        if any(len(image) > 10 * MIB for image in images):
            raise RefusedError(413, "an image is larger than 10 MiB")
        if sum(map(len, images)) > 30 * MIB:
            raise RefusedError(413, "the images are larger than 30 MiB")

    def digest(self, add):
        texts = [m.content + json.dumps(getattr(m.content, "parts", ())) for m in add.messages]
        return super().digest(add) + str(hash(tuple(texts)))

    def content_of(self, memory):
        content = memory.message.content
        return list(content.parts) if isinstance(content, Parts) else content

    def search_reply(self, search, ranked):
        kept, size = [], 0
        for score, memory in ranked:
            parts = getattr(memory.message.content, "parts", ())
            size += sum(len(p["image_url"]["url"]) * 3 // 4 for p in parts if "image_url" in p)
            if size > self.most_in_an_answer():
                break
            kept.append((score, memory))
        return super().search_reply(search, kept)

    def most_in_an_answer(self):
        return 30 * MIB


class ImagesFirst(Multimodal):
    kills = {"media/round-trip": "text, image, text came back in another order"}

    def content_of(self, memory):
        content = super().content_of(memory)
        return sorted(content, key=lambda p: p["type"]) if isinstance(content, list) else content


class FirstTextOnly(Multimodal):
    kills = {"media/round-trip": "the text after an image was acknowledged and is not found"}

    def check_content(self, content):
        if isinstance(content, list):
            content = content[:2]
        return super().check_content(content)


class ImageCollectionOnly(Multimodal):
    """Who has stored an image has no other memories."""

    kills = {"media/round-trip": "a message of text alone is not found on a service that takes"}

    def memories_of(self, search):
        mine = super().memories_of(search)
        pictures = [memory for memory in mine if isinstance(memory.message.content, Parts)]
        return pictures or mine


class DescribesImages(Multimodal):
    """Instead of the image there is what a model saw in it."""

    kills = {"media/round-trip": "the image does not come back"}
    risks = frozenset(kills)

    def content_of(self, memory):
        content = super().content_of(memory)
        if isinstance(content, str):
            return content
        return "\n".join(part.get("text", "[a red disc]") for part in content)


class NoWebP(Multimodal):
    kills = {"media/formats": "a message with a WebP image was answered 415"}

    def check_kind(self, head, image):
        if image.startswith(b"RIFF"):
            raise RefusedError(415, "unsupported image")
        super().check_kind(head, image)


class BelievesLabels(Multimodal):
    kills = {"media/mislabelled": "a PNG labelled JPEG was answered 500"}

    def check_kind(self, head, image):
        if not any(label in head for start, label in STARTS.items() if image.startswith(start)):
            raise RefusedError(500, "cannot identify image file")


class StringQueries(Multimodal):
    kills = {"media/query-parts": "a query of a text part was answered 422"}

    def check_search(self, body):
        if not isinstance(self.object(body, "body").get("query"), str):
            raise RefusedError(422, "query must be a string")
        return super().check_search(body)


class TextOfEverything(Multimodal):
    """Parts that are not understood are stored as their JSON."""

    kills = {"media/base64-in-text": "the Base64 of an image comes back inside a text"}

    def content_of(self, memory):
        content = super().content_of(memory)
        return content if isinstance(content, str) else "\n".join(map(json.dumps, content))


class EightMiB(Multimodal):
    kills = {"media/largest-image": "an image of 10 MiB was answered 413"}

    def check_sizes(self, images):
        super().check_sizes([image + bytes(2 * MIB) for image in images])


class ThirtyMiBOfJSON(Multimodal):
    kills = {"media/largest-request": "an Add with three images of 9.9 MiB was answered 413"}

    def max_body(self):
        return 30 * MIB


class OutOfMemory(Multimodal):
    kills = {"media/too-large": "an image of 10 MiB and a byte was answered 500"}

    def check_sizes(self, images):
        if any(len(image) > 10 * MIB for image in images):
            raise RefusedError(500, "out of memory")


class SendsEverything(Multimodal):
    kills = {"media/answer-size": "a Search was answered with 36.0 MiB of images"}

    def most_in_an_answer(self):
        return 100 * MIB


class FetchesImages(Multimodal):
    kills = {"media/remote-url": "a remote image URL was fetched"}

    def decoded(self, url):
        if url.startswith("http"):
            try:
                with urllib.request.urlopen(url, timeout=5) as answer:
                    return answer.read()
            except OSError:
                raise RefusedError(422, "the image cannot be loaded") from None
        return super().decoded(url)


class DropsImages(Correct):
    """Only text parts are looked at."""

    kills = {"media/text-only-refuses": "it was dropped silently"}

    def check_content(self, content):
        if isinstance(content, list):
            content = [part for part in content if "text" in self.object(part, "part")]
        return super().check_content(content)


class CrashesOnImages(Correct):
    kills = {"media/text-only-refuses": "an image part was answered 500, which is sent again"}

    def check_content(self, content):
        if isinstance(content, list) and any("text" not in part for part in content):
            raise RefusedError(500, "KeyError: 'text'")
        return super().check_content(content)


class Reindents(Correct):
    """Lines are trimmed before they are stored."""

    kills = {"fidelity/trajectory": "came back with other white space"}
    track = "coding"

    def check_content(self, content):
        return "\n".join(line.strip() for line in super().check_content(content).splitlines())


class NoPartsInCode(Correct):
    kills = {"fidelity/trajectory": "whose contents are text parts was refused"}
    risks = frozenset(kills)
    track = "coding"

    def check_content(self, content):
        if not isinstance(content, str):
            raise RefusedError(422, "content must be a string")
        return super().check_content(content)
