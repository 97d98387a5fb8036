"""Servers that lose count of what a connection carries, or know one HTTP only."""

from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.broken.correct import Correct, RefusedError


class ClosingProtocol(H11Protocol):
    """Closes after every answer and does not say so."""

    def on_response_complete(self):
        super().on_response_complete()
        self.transport.close()


class ClosesUnannounced(Correct):
    kills = {"transport/keep-alive": "the next add was answered connection"}

    def uvicorn_settings(self):
        return super().uvicorn_settings() | {"http": ClosingProtocol}


class ForgetfulProtocol(H11Protocol):
    """Takes what it has not read of a refused request for the next one."""

    def on_response_complete(self):
        super().on_response_complete()
        if getattr(self, "left", b""):
            self.data_received(self.left)
            self.left = b""


class LeavesBodies(Correct):
    """Refuses without reading; the rest of the body is then read as a request."""

    kills = {"transport/after-refusal": "a good Search on the same connection was answered"}
    statuses = range(400, 500)

    def uvicorn_settings(self):
        return super().uvicorn_settings() | {"http": ForgetfulProtocol}

    async def __call__(self, scope, receive, send):
        async def sending(event):
            if event.get("status") in self.statuses:
                # The protocol object is the bound sender's flow: reached as uvicorn has it.
                protocol = send.__self__.on_response.__self__
                protocol.left = b"}]}\r\n\r\n"
            await send(event)

        await super().__call__(scope, receive, sending)


class LeavesLargeBodies(LeavesBodies):
    """Stops reading at a megabyte; what follows is taken for the next request."""

    kills = {"transport/after-too-large": "a body of 16 MiB was answered 413, a good Search"}

    def max_body(self):
        return 2**20

    async def read_body(self, headers, receive):
        try:
            return await super().read_body(headers, receive)
        except RefusedError:
            while (await receive()).get("more_body"):
                pass
            raise


class ModernProtocol(H11Protocol):
    def data_received(self, data):
        if b" HTTP/1.0\r\n" in data:
            self.transport.write(b"HTTP/1.1 505 Not Supported\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
        else:
            super().data_received(data)


class KnowsHTTP11Only(Correct):
    kills = {"transport/http-1.0": "a Search over HTTP/1.0 was answered 505"}

    def uvicorn_settings(self):
        return super().uvicorn_settings() | {"http": ModernProtocol}
