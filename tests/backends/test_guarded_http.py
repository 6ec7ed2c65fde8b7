"""Tests for the client that fetches pages: allowed addresses, size limits, time limits and concurrency."""

from __future__ import annotations

import itertools
import ssl
import threading
import time
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from gzip import compress
from ipaddress import ip_address

import pytest
import trustme

from app.backends.fetch.addresses import is_public, system_resolve
from app.backends.fetch.safe_http import Budget, FetchLimiter, GuardedHttp
from app.domain.errors import CallFailed
from app.domain.instrumentation import CallCancelled, cancellable
from tests.waiting import LONG, LONGER
from tests.web_server import ELSEWHERE, HERE, Sent, WebServer, client, moved

PAGE = Sent(b"<p>Hello</p>")
SECONDS = 5


def message_of(get) -> str:
    """Return the message of the CallFailed that `get` raises."""
    with pytest.raises(CallFailed) as failure:
        get()
    return str(failure.value)


class TestRequests:
    def test_a_page_is_returned_with_its_url_status_type_and_content(self):
        with WebServer({"/a?b=c": PAGE}) as site:
            fetched = client(site).get(site.url("/a?b=c"), Budget(SECONDS))
        assert (fetched.url, fetched.status) == (site.url("/a?b=c"), 200)
        assert (fetched.kind, fetched.content) == ("text/html", b"<p>Hello</p>")

    def test_requests_send_host_and_user_agent_and_no_cookies(self):
        with WebServer({"/": Sent(b"x", headers={"Set-Cookie": "a=b"})}) as site:
            http = client(site)
            http.get(site.url(), Budget(SECONDS))
            http.get(site.url(), Budget(SECONDS))
        asked = site.headers[1]
        assert (asked["host"], asked["user-agent"]) == (f"good.test:{site.port}", "Hopcheck/test")
        assert "cookie" not in asked

    def test_an_international_host_name_is_requested_in_punycode(self):
        asked = []
        with WebServer({"/": PAGE}) as site:
            http = client(site, resolve=lambda host, port: asked.append(host) or (HERE,))
            assert "//xn--tbingen-n2a.test:" in http.get(site.url(host="Tübingen.test"), Budget(SECONDS)).url
        assert asked == ["xn--tbingen-n2a.test"]

    def test_proxies_from_the_environment_are_ignored(self, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        with WebServer({"/": PAGE}) as site:
            assert client(site).get(site.url(), Budget(SECONDS)).status == 200

    def test_the_body_of_a_status_other_than_200_is_not_read(self):
        with WebServer({}) as site:
            fetched = client(site).get(site.url("/none"), Budget(SECONDS))
        assert (fetched.status, fetched.content) == (404, b"")

    def test_an_unwanted_content_type_is_refused(self):
        with WebServer({"/": Sent(b"\x89PNG", kind="image/png")}) as site:
            message = message_of(lambda: client(site).get(site.url(), Budget(SECONDS), kinds=["text/html"]))
        assert message == "good.test sent image/png, which is not a kind of page that can be read."

    def test_the_next_address_is_tried_when_one_is_unreachable(self):
        with WebServer({"/": PAGE}) as site:
            http = client(site, resolve=lambda host, port: ("127.0.0.3", HERE), allowed=lambda address: True)
            assert http.get(site.url(), Budget(SECONDS)).status == 200

    def test_an_unreachable_server_is_reported(self):
        with WebServer({}) as site:
            pass
        assert message_of(lambda: client(site).get(site.url(), Budget(SECONDS))) == "good.test cannot be reached."

    def test_an_unknown_host_is_reported(self):
        def unknown(host, port):
            raise OSError("no such name")

        message = message_of(lambda: client(resolve=unknown, ports=[80]).get("http://good.test/", Budget(SECONDS)))
        assert message == "good.test cannot be found: no such host is known."


INSIDE = [
    "127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.100.100.200", "192.0.0.192", "168.63.129.16", "192.88.99.1", "198.18.0.1", "224.0.0.1", "239.255.255.250",
    "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
    "::ffff:7f00:1", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::",
    "fec0::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "3fff::1", "100::1",
]  # fmt: skip
SPELLINGS = [
    "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0", "0x0",
    "127.0.0.01", "0x7f.1", "3232235777", "1.2.3.4.5", "127。0。0。1", "127.0.0.1.", "localhost", "localhost.",
    "LOCALHOST",
]  # fmt: skip
ODD = [
    "file:///etc/passwd", "gopher://good.test/", "data:text/html,hello", "ftp://good.test/", "javascript:alert(1)",
    "//good.test/", "good.test", "", "http://", "http:///path", "http://[", "http://[::1", "http://[fe80::1%25eth0]/",
    "http://user:password@good.test/", "http://user@good.test/", "http://good.test@127.0.0.1/",
    "http://good.test\\@127.0.0.1/", "http://good.test:22/", "http://good.test:0/", "http://good.test:99999/",
    "http://good.test%00.inside.test/", "http://good test/", "http://①②⑦.0.0.1/", "http://" + "a" * 300 + "/",
    "http://good.test/" + "a" * 5000, "http://good.test/\n",
    "gopher://good.test:80/", "ftp://good.test:80/", "ws://good.test:443/", "HTTPS+X://good.test:443/",
]  # fmt: skip


class TestAllowedAddresses:
    @pytest.mark.parametrize("address", INSIDE)
    def test_a_private_address_is_refused_as_a_literal_and_behind_a_name(self, address):
        spelled = f"[{address}]" if ":" in address else address
        http = GuardedHttp("Hopcheck/test", resolve=lambda host, port: (address,))
        expected = "was not asked: its address is not on the public internet."
        assert message_of(lambda: http.get(f"http://{spelled}/", Budget(SECONDS))).endswith(expected)
        assert message_of(lambda: http.get("https://good.test/", Budget(SECONDS))).endswith(expected)

    @pytest.mark.parametrize("host", SPELLINGS)
    def test_alternative_spellings_of_localhost_are_refused_with_the_real_resolver(self, host):
        http = GuardedHttp("Hopcheck/test", resolve=system_resolve)
        assert "was not asked" in message_of(lambda: http.get(f"http://{host}/", Budget(SECONDS)))

    @pytest.mark.parametrize("url", ODD)
    def test_an_invalid_or_non_web_url_is_refused_before_its_name_is_resolved(self, url):
        looked_up = []
        http = GuardedHttp("Hopcheck/test", resolve=lambda host, port: looked_up.append(host) or (HERE,))
        assert message_of(lambda: http.get(url, Budget(SECONDS))) and not looked_up

    @pytest.mark.parametrize("to", [f"http://{ELSEWHERE}", "http://inside.test", "//inside.test", "http://[::1]"])
    def test_a_redirect_to_a_private_address_is_refused(self, to):
        with WebServer({"/secret": PAGE}, at=ELSEWHERE) as inside:
            with WebServer({"/": moved(f"{to}:{inside.port}/secret")}) as site:
                http = client(site, inside)
                assert "not on the public internet" in message_of(lambda: http.get(site.url(), Budget(SECONDS)))
            assert inside.asked == []

    @pytest.mark.parametrize("to", ["file:///etc/passwd", "gopher://good.test/", "http://good.test:22/", "http://["])
    def test_a_redirect_to_an_invalid_or_non_web_url_is_refused(self, to):
        with WebServer({"/": moved(to)}) as site:
            assert message_of(lambda: client(site).get(site.url(), Budget(SECONDS)))
        assert site.asked == ["/"]

    def test_a_name_is_resolved_once_and_the_checked_address_is_used(self):
        answers = itertools.chain([(HERE,)], itertools.repeat((ELSEWHERE,)))
        with WebServer({"/": PAGE}) as site:
            http = client(site, resolve=lambda host, port: next(answers))
            assert http.get(site.url(), Budget(SECONDS)).content == PAGE.body
            assert "not on the public internet" in message_of(lambda: http.get(site.url(), Budget(SECONDS)))

    @pytest.mark.parametrize(
        ("answers", "asked"), [([(HERE, ELSEWHERE)], []), ([(HERE,), (ELSEWHERE,)], ["/"])], ids=["mixed", "redirect"]
    )
    def test_a_name_with_a_private_address_among_public_ones_or_on_a_redirect_is_refused(self, answers, asked):
        given = iter(answers)
        with WebServer({"/": moved("/secret"), "/secret": PAGE}) as site:
            http = client(site, resolve=lambda host, port: next(given))
            assert "not on the public internet" in message_of(lambda: http.get(site.url(), Budget(SECONDS)))
        assert site.asked == asked

    @pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001::1"])
    def test_a_public_address_is_allowed(self, address):
        assert is_public(ip_address(address))


class TestRedirects:
    def test_three_redirects_are_followed_and_the_final_url_is_returned(self):
        hops = {"/": moved("/1", 301), "/1": moved("/2", 307), "/2": moved("3?x"), "/3?x": PAGE}
        with WebServer(hops) as site:
            fetched = client(site).get(site.url(), Budget(SECONDS))
        assert (fetched.url, fetched.content) == (site.url("/3?x"), PAGE.body)

    def test_a_redirect_loop_ends_after_three(self):
        with WebServer({"/": moved("/")}) as site:
            message = message_of(lambda: client(site).get(site.url(), Budget(SECONDS)))
        assert (message, len(site.asked)) == ("good.test redirects more than 3 times.", 4)

    def test_check_allowed_is_called_before_each_request(self):
        def check_allowed(url):
            if "other" in url:
                raise CallFailed("not there")

        with WebServer({}) as site:
            site.pages["/"] = moved(site.url("/", "other.test"))
            assert (
                message_of(lambda: client(site).get(site.url(), Budget(SECONDS), check_allowed=check_allowed))
                == "not there"
            )
        assert site.asked == ["/"]


def chunked(*pieces: bytes):
    """Return the pieces of a reply without a Content-Length."""
    return itertools.chain([b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"], pieces)


class TestSizeLimits:
    LIMIT = 100_000

    def get(self, sent: Sent):
        with WebServer({"/": sent}) as site:
            return client(site).get(site.url(), Budget(SECONDS), limit=self.LIMIT).content

    @pytest.mark.parametrize(
        ("encoding", "pack"),
        [
            ("gzip", compress),
            ("deflate", zlib.compress),
            ("deflate", lambda data: zlib.compress(data, wbits=-15)),
            ("identity", bytes),
        ],
    )
    def test_a_compressed_page_is_decompressed(self, encoding, pack):
        page = b"<p>Hello</p>" * 1000
        assert self.get(Sent(pack(page), headers={"Content-Encoding": encoding})) == page

    def test_a_decompression_bomb_is_aborted_at_the_limit(self):
        bomb = compress(bytes(50 * 2**20))
        assert len(bomb) < self.LIMIT
        tracemalloc.start()
        message = message_of(lambda: self.get(Sent(bomb, headers={"Content-Encoding": "gzip"})))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert "larger than" in message and most < 3_000_000

    @pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
    def test_an_unsupported_content_encoding_is_refused(self, encoding):
        assert "packs its pages" in message_of(lambda: self.get(Sent(b"x", headers={"Content-Encoding": encoding})))

    @pytest.mark.parametrize(
        ("sent", "words"),
        [
            (Sent(b"half", headers={"Content-Length": "8"}), "broke off"),
            (Sent(raw=[b"HTTP/1.0 200 OK\r\nX-Large: ", b"x" * 2_000_000, b"\r\n\r\n"]), "no reply that can be read"),
            (Sent(raw=[b"HTTP/1.0 200 OK\r\n", b"X-Many: x\r\n" * 200_000, b"\r\n"]), "no reply that can be read"),
            (Sent(raw=[b"\0\1\2 no HTTP at all\r\n\r\n"]), "no reply that can be read"),
            (Sent(raw=[]), "no reply that can be read"),
        ],
        ids=["too short", "one large header", "many headers", "no HTTP", "nothing"],
    )
    def test_an_unreadable_head_or_body_is_refused(self, sent, words):
        assert words in message_of(lambda: self.get(sent))

    @pytest.mark.parametrize("head", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n"])
    def test_interim_replies_without_an_end_are_given_up_before_they_cost_much(self, head):
        began = time.process_time()
        said = message_of(lambda: self.get(Sent(raw=itertools.repeat(head * 100))))
        assert "sent no reply that can be read" in said and time.process_time() - began < 3


DRIPS = int(LONGER / 0.05)
"""At twenty a second these last longer than a test may take."""


class TestTimeouts:
    def get(self, sent: Sent, seconds: float = 1) -> tuple[str, float]:
        with WebServer({"/": sent}) as site:
            http = client(site)
            http.get(site.url("/warm"), Budget(SECONDS))
            started = time.perf_counter()
            message = message_of(lambda: http.get(site.url(), Budget(seconds)))
            return message, time.perf_counter() - started

    @pytest.mark.parametrize(
        "sent",
        [
            Sent(PAGE.body, delay=LONGER),
            Sent(raw=chunked(*[b"x"] * DRIPS), pause=0.05),
            Sent(raw=[b"HTTP/1.0 200 OK\r\n", *[b"X-A: b\r\n"] * DRIPS], pause=0.05),
            Sent(raw=[b"HTTP/1.1 100 Continue\r\n\r\n"] * DRIPS, pause=0.05),
        ],
        ids=["silent", "drips its content", "drips its head", "says it will, for ever"],
    )
    def test_a_slow_server_is_given_up(self, sent):
        message, took = self.get(sent)
        assert message == "good.test was not done after 1 seconds and was given up."
        assert took < LONG

    def test_a_hanging_resolver_is_given_up(self):
        free = threading.Event()
        http = client(resolve=lambda host, port: free.wait(LONGER) and (), ports=[80])
        started = time.perf_counter()
        assert "in time" in message_of(lambda: http.get("http://good.test/", Budget(0.2)))
        free.set()
        assert time.perf_counter() - started < LONG


class TestConcurrency:
    def fetch_all(self, http, urls, seconds: float = SECONDS) -> list[str]:
        with ThreadPoolExecutor(len(urls)) as pool:
            done = [pool.submit(http.get, url, Budget(seconds)) for url in urls]
        return [str(error) for each in done if (error := each.exception())]

    def test_one_page_of_a_site_is_fetched_at_a_time(self):
        with WebServer({"/": Sent(delay=0.1)}) as site:
            assert self.fetch_all(client(site), [site.url()] * 4) == []
        assert (len(site.asked), site.most_at_once) == (4, 1)

    def test_at_most_four_sites_are_fetched_from_at_once(self):
        with WebServer({"/": Sent(delay=0.6)}) as site:
            http = client(site, resolve=lambda host, port: (HERE,))
            assert self.fetch_all(http, [site.url(host=f"{n}.test") for n in range(6)]) == []
        assert len(site.asked) == 6 and 2 <= site.most_at_once <= 4

    def test_waiting_for_a_slot_times_out(self):
        limiter = FetchLimiter(wait_seconds=0.1)
        with WebServer({"/": PAGE}) as site, limiter.slot("good.test"):
            failed = self.fetch_all(client(site, limiter=limiter), [site.url()])
        assert failed == ["good.test was not asked: other pages were still being fetched."]

    def test_a_cancelled_fetch_is_not_started_when_its_slot_is_free(self):
        limiter = FetchLimiter()
        with cancellable(lambda call: False), pytest.raises(CallCancelled), limiter.slot("good.test"):
            pytest.fail("it was fetched")
        with limiter.slot("good.test"):
            pass

    def test_waiting_for_a_slot_does_not_use_the_time_budget(self):
        limiter, free = FetchLimiter(), threading.Event()

        def hold() -> None:
            with limiter.slot("good.test"):
                free.set()
                time.sleep(2.2)

        (holder := threading.Thread(target=hold)).start()
        assert free.wait(LONG)
        with WebServer({"/": PAGE}) as site:
            assert self.fetch_all(client(site, limiter=limiter), [site.url()], seconds=2) == []
        holder.join()


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def secured(authority, name: str, seen: list[str] | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    if seen is not None:
        context.sni_callback = lambda _socket, asked, _context: seen.append(asked)
    return context


class TestTls:
    def trusting(self, authority) -> ssl.SSLContext:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    def test_a_tls_page_is_requested_by_name_at_the_checked_address(self, authority):
        seen: list[str] = []
        with WebServer({"/": PAGE}, tls=secured(authority, "good.test", seen)) as site:
            fetched = client(site, tls=self.trusting(authority)).get(site.url(), Budget(SECONDS))
        assert (fetched.content, seen) == (PAGE.body, ["good.test"])

    def test_a_certificate_for_another_host_is_refused(self, authority):
        with WebServer({"/": PAGE}, tls=secured(authority, "other.test")) as site:
            http = client(site, tls=self.trusting(authority))
            message = message_of(lambda: http.get(site.url(), Budget(SECONDS)))
        assert (message, site.asked) == ("good.test offers no secure connection that can be trusted.", [])

    def test_an_unknown_certificate_authority_is_refused(self, authority):
        with WebServer({"/": PAGE}, tls=secured(authority, "good.test")) as site:
            assert "can be trusted" in message_of(lambda: client(site, tls=None).get(site.url(), Budget(SECONDS)))
        assert site.asked == []

    def test_a_hanging_tls_handshake_is_given_up(self):
        with WebServer({"/": PAGE}) as site:  # waits for a line of text, and is sent none
            url = site.url().replace("http:", "https:")
            assert message_of(lambda: client(site).get(url, Budget(0.4)))
