/**
 * What `lang serve --watch` puts into its pages: it hears of builds, lets the page take them or loads it again, and
 * shows what is wrong with the program.
 *
 * It speaks with the page by events of `window`: `lang:build` (a new build; who calls `detail.respondWith(promise)`
 * takes it without loading the page, and the promise gives a text for the player or none), `lang:problems` (`detail`
 * says whether the report covers the page) and, from the page, `lang:notice` (`detail` is shown for a while).
 */
(() => {
  /** The build that this page was made for. */
  let version = "VERSION";
  const RETRY_MILLISECONDS = 1000;
  const NOTICE_MILLISECONDS = 8000;

  const STYLE = `
    :host { all: initial; }
    .problems {
      position: fixed; inset: 0; z-index: 2147483647; box-sizing: border-box; display: flex; flex-direction: column;
      padding: max(12px, 2vmin); background: rgb(9 10 18 / 0.93); color: #e6e9f2;
      font: 14px/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
    }
    header { display: flex; gap: 16px; align-items: flex-start; border-top: 4px solid #ff6b6b; padding: 10px 2px; }
    h1 { margin: 0; font: 600 18px/1.3 system-ui, sans-serif; color: #fff; }
    header p { margin: 2px 0 0; font: 13px/1.4 system-ui, sans-serif; color: #a9b1c9; }
    header div { flex: 1; }
    button {
      border: 1px solid #4a5274; border-radius: 6px; padding: 6px 12px; background: #1c2036; color: #e6e9f2;
      font: 13px/1.2 system-ui, sans-serif; cursor: pointer;
    }
    button:hover, button:focus-visible { background: #2a3052; outline: 2px solid #7aa2ff; }
    pre {
      flex: 1; min-height: 0; margin: 0; padding: 14px; overflow: auto; white-space: pre; tab-size: 4; font: inherit;
      background: #12141f; border: 1px solid #2b3048; border-radius: 6px;
    }
    .prose { white-space: pre-wrap; padding-left: 2ch; text-indent: -2ch; }
    .error { color: #ff7b7b; font-weight: 700; }
    .warning { color: #ffcf5c; font-weight: 700; }
    .info { color: #6fd3ff; font-weight: 700; }
    .success { color: #7ee08a; font-weight: 700; }
    .strong { color: #fff; font-weight: 700; }
    .quiet { color: #8f98b5; }
    .add { color: #7ee08a; }
    .remove { color: #ff7b7b; }
    .notice {
      position: fixed; left: 16px; bottom: 16px; z-index: 2147483646; max-width: min(36rem, calc(100vw - 64px)); padding: 10px 16px;
      border-left: 4px solid #ffcf5c; border-radius: 4px; background: #1c2036; color: #fff; font: 15px/1.5 system-ui, sans-serif;
      box-shadow: 0 4px 24px rgb(0 0 0 / 0.5);
    }
  `;

  // What is shown

  let root = null;
  let problems = null;
  let notice = null;

  /** In a tree of its own, so that the page's styles do not reach it, nor its styles the page. */
  function panelRoot() {
    if (root?.host.isConnected) return root;
    const host = document.createElement("lang-serve");
    root = host.attachShadow({ mode: "open" });
    root.append(element("style", STYLE));
    (document.body ?? document.documentElement).append(host);
    return root;
  }

  function element(name, text = "", className = "") {
    const made = document.createElement(name);
    made.textContent = text;
    if (className !== "") made.className = className;
    return made;
  }

  function showProblems({ title, report, isBuilt }) {
    hideProblems();
    problems = element("section", "", "problems");
    problems.setAttribute("role", "alertdialog");
    problems.setAttribute("aria-label", title);
    const header = element("header");
    const heading = element("div");
    const consequence = isBuilt
      ? "The page stays with the last good build until this is fixed."
      : "There is no good build yet; the page is loaded when there is one.";
    heading.append(element("h1", title), element("p", consequence));
    const close = element("button", "Hide (Esc)");
    close.type = "button";
    close.addEventListener("click", hideProblems);
    header.append(heading, close);
    const text = element("pre");
    text.tabIndex = 0;
    text.append(...reportLines(report));
    problems.append(header, text);
    panelRoot().append(problems);
    reportPage(true);
  }

  /**
   * Lines of prose are as wide as the window allows; those of an excerpt stay whole, because carets stand under them.
   */
  function reportLines(report) {
    const lines = [element("div")];
    for (const [role, piece] of report) {
      for (const part of piece.split(/(?<=\n)/)) {
        lines.at(-1).append(role === "" ? part : element("span", part, role));
        if (part.endsWith("\n")) lines.push(element("div"));
      }
    }
    for (const line of lines) {
      if (!/^ *\d* *(\||-->|:::|\.\.\.)/.test(line.textContent)) line.className = "prose";
    }
    return lines;
  }

  function hideProblems() {
    if (problems === null) return;
    problems.remove();
    problems = null;
    reportPage(false);
  }

  function reportPage(isShown) {
    dispatchEvent(new CustomEvent("lang:problems", { detail: { isShown } }));
  }

  function showNotice(text) {
    notice?.remove();
    const shown = element("div", text, "notice");
    shown.setAttribute("role", "status");
    panelRoot().append(shown);
    notice = shown;
    setTimeout(() => shown.remove(), NOTICE_MILLISECONDS);
  }

  addEventListener("lang:notice", ({ detail }) => showNotice(detail));
  addEventListener("keydown", (event) => {
    if (problems === null || event.key !== "Escape") return;
    hideProblems();
    // The page's own meaning of the key is not meant.
    event.stopImmediatePropagation();
    event.preventDefault();
  }, true);

  // New builds, one after the other

  let work = Promise.resolve();

  async function take(reload) {
    let answer = null;
    const detail = { reload, respondWith: (promise) => answer = promise };
    dispatchEvent(new CustomEvent("lang:build", { detail }));
    if (reload === "page" || answer === null) return location.reload();
    try {
      const text = await answer;
      if (text) showNotice(text);
    } catch (error) {
      // What the page cannot take, it may load.
      console.warn(error);
      location.reload();
    }
  }

  function follow(message) {
    const isNews = message.version !== version;
    version = message.version;
    if (message.state === "failed") showProblems(message);
    else hideProblems();
    // Behind a lost connection any number of builds may have been missed.
    if (message.reload !== null || isNews && message.isFirst) {
      work = work.then(() => take(message.reload ?? "page"));
    }
  }

  // Connections, which are tried again when they are lost

  let hearsEvents = false;

  function connect(path, handlers) {
    const socket = new WebSocket(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`,
    );
    socket.addEventListener("open", () => handlers.open?.());
    socket.addEventListener("message", ({ data }) => handlers.message(data));
    socket.addEventListener("close", () => {
      handlers.close?.();
      setTimeout(() => connect(path, handlers), RETRY_MILLISECONDS);
    });
  }

  connect("/_events", {
    open: () => hearsEvents = true,
    close: () => hearsEvents = false,
    message: (data) => follow(JSON.parse(data)),
  });
  connect("/_reload", {
    // The events say the same and more.
    message: (data) => data === "reload" && !hearsEvents && location.reload(),
  });
})();
