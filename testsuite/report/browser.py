"""A headless Chromium, spoken to over a pipe in its DevTools protocol: no driver, no port."""
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile


class Browser:
    """Opens pages one after the other; exits 77 where there is no Chromium."""

    def __init__(self):
        program = shutil.which("chromium")
        if not program:
            print("no chromium here: skipped")
            sys.exit(77)
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_read, to_write)]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            [program, "--headless=new", "--disable-gpu", "--no-first-run", "--mute-audio",
             "--disable-background-networking", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", *root,
             "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for fd in (to_read, to_write, *high):
            os.close(fd)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                sys.exit("chromium ended early")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"chromium: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1280, height=900, dark=False):
        """Loads a file; intermediate events are in events, from the request on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", url="file://" + path)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        """Returns the value of the expression in the page, through JSON."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"in the page: {result['exceptionDetails']}")
        return result["result"].get("value")

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        """The messages of the console."""
        texts = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Log.entryAdded":
                texts.append(params["entry"]["text"])
            elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                texts.append(json.dumps(params)[:200])
        return texts

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait()
        self.profile.cleanup()
