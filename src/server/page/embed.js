// A game of this server as an element of any page that may show it (`rulemate serve --embed ORIGIN`):
//
//   <script src="https://games.example.org/page/embed.js" async></script>
//   <rulemate-game game="ID"></rulemate-game>
//
// The element is as wide as its parent. Its height follows from that, unless `height` gives it in pixels. It only shows the
// game.

(() => {
  const home = new URL(document.currentScript.src).origin;

  class RulemateGame extends HTMLElement {
    static observedAttributes = ["game", "height", "label"];

    connectedCallback() {
      this.draw();
    }

    attributeChangedCallback() {
      if (this.isConnected) this.draw();
    }

    draw() {
      const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
      const id = this.getAttribute("game") ?? "";
      if (!/^[a-z0-9]+$/.test(id)) {
        root.textContent = `"${id}" is not the id of a game`;
        return;
      }
      const frame = document.createElement("iframe");
      const height = Number(this.getAttribute("height"));
      frame.src = `${home}/embed/game/${id}`;
      frame.title = this.getAttribute("label") ?? "A game";
      frame.loading = "lazy";
      this.style.display = "block";
      Object.assign(frame.style, { border: "0", width: "100%", ...(height > 0 ? { height: `${height}px` } : { aspectRatio: "3 / 4" }) });
      root.replaceChildren(frame);
    }
  }

  if (!customElements.get("rulemate-game")) customElements.define("rulemate-game", RulemateGame);
})();
