// SPDX-License-Identifier: Apache-2.0

extension Page {
    /// The mailbox and the list of pushes.
    static let mailMarkup = #"""

        <main id="view-mail" class="mail" role="tabpanel" aria-labelledby="tab-mail" hidden>
          <div class="list"><ol id="mail-list"></ol><p id="no-match" class="note" hidden>No e-mail matches.</p></div>
          <article id="mail-open" class="opened" aria-live="polite" hidden>
            <header>
              <button id="mail-back" class="plain back" type="button">‹ All mail</button>
              <h2 id="mail-subject" dir="auto"></h2>
              <p class="route"><bdi id="mail-from"></bdi> <span aria-hidden="true">→</span> <bdi id="mail-to"></bdi></p>
              <p class="route"><time id="mail-time"></time> · <span id="mail-size"></span></p>
              <div class="actions">
                <button id="copy-link" class="plain strong" type="button">Copy link</button>
                <button id="copy-code" class="plain strong" type="button">Copy code <b></b></button>
                <span class="parts" role="tablist" aria-label="Part of the e-mail">
                  <button id="part-html" role="tab" aria-controls="mail-html" type="button">HTML</button>
                  <button id="part-text" role="tab" aria-controls="mail-text" type="button">Text</button>
                  <button id="part-links" role="tab" aria-controls="mail-links" type="button">Links</button>
                </span>
              </div>
            </header>
            <iframe id="mail-html" class="part" sandbox="" title="The e-mail's HTML" hidden></iframe>
            <pre id="mail-text" class="part" tabindex="0" dir="auto" hidden></pre>
            <ol id="mail-links" class="part" hidden></ol>
          </article>
          <p id="mail-none" class="opened none" hidden>Choose an e-mail to read it.</p>
          <section id="mail-empty" class="hint" hidden>
            <h2>No e-mail yet</h2>
            <p>This gateway takes mail by SMTP at <code id="smtp-origin"></code> and shows it here.
              Nothing is sent to anybody.</p>
          </section>
        </main>
        <main id="view-push" class="push" role="tabpanel" aria-labelledby="tab-push" hidden>
          <ol id="push-list"></ol>
          <section id="push-empty" class="hint">
            <h2>No push yet</h2>
            <p>This gateway takes pushes as Apple does, at <code id="push-origin"></code>, and shows what the app would get.
              Nothing is sent to anybody.</p>
          </section>
        </main>
        <template id="mail-template">
          <li><button class="letter" type="button">
            <span class="who"></span><time></time><span class="what" dir="auto"></span><span class="to"></span>
          </button></li>
        </template>
        <template id="push-template">
          <li class="card">
            <header><h2></h2><time></time></header>
            <dl>
              <dt>Device</dt><dd class="token"></dd>
              <dt>Receipt</dt><dd class="receipt"></dd>
              <dt>Secret</dt><dd class="secret"></dd>
            </dl>
            <details><summary>Payload</summary><pre></pre></details>
          </li>
        </template>
        """#
}
