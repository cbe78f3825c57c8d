"""Headless Chromium, driven through its DevTools protocol over two pipes: no port, no package beside Python.

    with Chrome() as chrome:
        page = chrome.open("report.html")
        page.click(10, 20); page.key("/"); page.value("document.title")
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path


def find_chromium():
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Chrome:
    def __init__(self, width=1280, height=800, dark=False):
        self.width, self.height, self.dark = width, height, dark
        self.number = 0
        self.events = []
        self.rest = b""

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="taskspec-browser-")
        ours_out, theirs_in = os.pipe()[::-1]
        theirs_out, ours_in = os.pipe()[::-1]

        def to_three_and_four():
            high_in, high_out = os.dup2(theirs_in, 103), os.dup2(theirs_out, 104)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             f"--window-size={self.width},{self.height}", f"--user-data-dir={self.home}", "about:blank"],
            preexec_fn=to_three_and_four, close_fds=False, start_new_session=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.out, self.into = ours_out, ours_in
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, parameters=None, session=None, seconds=60):
        self.number += 1
        number = self.number
        request = {"id": number, "method": method, "params": parameters or {}}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        end = time.monotonic() + seconds
        while True:
            message = self.message(max(0, end - time.monotonic()))
            if message is None:
                raise RuntimeError(f"no answer to {method}")
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    # `ready`: when the page has done what it does by itself.
    def open(self, path, ready="Boolean(window.taskspecReport)", link=""):
        return Page(self, path, ready, link)


class Page:
    def __init__(self, chrome, path, ready, link):
        self.chrome = chrome
        target = chrome.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = chrome.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": chrome.width, "height": chrome.height, "deviceScaleFactor": 1, "mobile": False})
        theme = "dark" if chrome.dark else "light"
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
        begin = time.monotonic()
        self.call("Page.navigate", {"url": Path(path).resolve().as_uri() + link})
        self.until(f"document.readyState === 'complete' && {ready}", 60)
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        self.seconds_to_open = time.monotonic() - begin

    def call(self, method, parameters=None):
        return self.chrome.call(method, parameters, self.session)

    def value(self, expression):
        answer = self.call("Runtime.evaluate",
                           {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def until(self, expression, seconds=10):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise AssertionError(f"never became true: {expression}")
            time.sleep(0.02)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def click_on(self, selector):
        box = self.value("(() => { const r = document.querySelector(%s).getBoundingClientRect();"
                         " return [r.left + r.width / 2, r.top + r.height / 2]; })()" % json.dumps(selector))
        self.click(*box)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key}
            if len(key) == 1 and kind == "keyDown":
                event["text"] = key
            self.call("Input.dispatchKeyEvent", event)

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def picture(self, path):
        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        Path(path).write_bytes(base64.b64decode(data))

    # Addresses that were asked for, besides the file itself and what it holds in itself.
    def requests(self):
        urls = [e["params"]["request"]["url"] for e in self.chrome.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("file://", "data:", "blob:", "about:"))]

    # What the page complained of: exceptions, breaches of its policy.
    def complaints(self):
        texts = []
        for event in self.chrome.events:
            if event.get("method") == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                texts.append(details.get("exception", {}).get("description", details["text"]))
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                texts.append(event["params"]["entry"]["text"])
        return texts
