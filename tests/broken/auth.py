"""Servers that are wrong about keys; they are started with one."""

from tests.broken.correct import Correct, RefusedError


class OptionalKey(Correct):
    """A key is checked if there is one."""

    kills = {"auth/missing-key": "Add without a key was answered 200"}

    def authorised(self, headers):
        return not headers.keys() & {"authorization", "x-api-key"} or super().authorised(headers)


class HidesBehind404(Correct):
    kills = {"auth/missing-key": "Add without a key was answered 404; 401 or 403"}
    risks = frozenset({"auth/missing-key"})

    def authorised(self, headers):
        if not super().authorised(headers):
            raise RefusedError(404, "no such path")
        return True


class AnyKey(Correct):
    kills = {"auth/wrong-key": "Add with a wrong key was answered 200"}

    def authorised(self, headers):
        return bool(headers.keys() & {"authorization", "x-api-key"})


class PrefixKey(Correct):
    """``key.startswith(given)``: the empty key fits too."""

    kills = {"auth/key-variants": "Search with all but the last character of the key"}

    def authorised(self, headers):
        given = headers.get("authorization", "none").partition(" ")[2]
        return "authorization" in headers and self.key.startswith(given)


class LongerKey(Correct):
    """``given.startswith(key)``."""

    kills = {"auth/key-variants": "Search with the key and one more character"}

    def authorised(self, headers):
        given = headers.get("authorization", "").partition(" ")[2]
        return given.startswith(self.key)


class AnyCaseKey(Correct):
    kills = {"auth/key-variants": "Search with the key in other case"}

    def authorised(self, headers):
        given = headers.get("authorization", "").partition(" ")[2]
        return given.casefold() == self.key.casefold()


class CrashesOnOtherKeys(Correct):
    kills = {"auth/key-variants": "a key that is not ASCII was answered 500; 401 or 403"}
    risks = frozenset({"auth/key-variants"})

    def authorised(self, headers):
        headers.get("authorization", "").encode("ascii")
        return super().authorised(headers)


class CrashesOnOtherSchemes(Correct):
    kills = {"auth/other-scheme": "the right key as token was answered 500"}

    def authorised(self, headers):
        if headers.get("authorization", "").startswith("Token"):
            raise IndexError("list index out of range")
        return super().authorised(headers)


class BodyBeforeKey(Correct):
    """As a framework does whose body is a parameter."""

    kills = {"auth/key-before-body": "the body was judged before the key"}

    async def route(self, method, path, headers, receive):
        if path == "/add" and method == "POST":
            body = await self.read_body(headers, receive)
            self.check_add(self.parse(body))

            async def receive():
                return {"type": "http.request", "body": body}

        return await super().route(method, path, headers, receive)


class TellsTheKey(Correct):
    kills = {"auth/no-key-in-answers": "the answer 401 repeats the key"}

    async def route(self, method, path, headers, receive):
        try:
            return await super().route(method, path, headers, receive)
        except RefusedError as refused:
            if refused.status != 401:
                raise
            raise RefusedError(401, f"not allowed: {headers.get('authorization')}") from None


class StoresThenRefuses(Correct):
    kills = {"auth/nothing-stored": "yet its message is found"}

    async def route(self, method, path, headers, receive):
        if path == "/add" and method == "POST" and not self.authorised(headers):
            await self.add(await self.read_body(headers, receive))
            raise RefusedError(401, "missing or wrong key")
        return await super().route(method, path, headers, receive)
