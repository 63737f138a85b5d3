// SPDX-License-Identifier: Apache-2.0

extension Page {
    /// The body of the page: the bar, the wall of phones, the empty state, and the templates of a phone and a bubble.
    static let markup = #"""
        <header class="bar">
          <h1 class="brand">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="9"/>
              <path d="M7 11.5a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v7a3 3 0 0 1-3 3h-7l-4.6 3.6c-.4.3-.9 0-.9-.4v-3.2H10a3 3 0 0 1-3-3z"/>
              <circle cx="12" cy="15" r="1.5"/><circle cx="16" cy="15" r="1.5"/><circle cx="20" cy="15" r="1.5"/>
            </svg>
            <span>code-courier <em>sandbox</em></span>
          </h1>
          <nav class="tabs" role="tablist" aria-label="Kind of message">
            <button id="tab-phones" role="tab" aria-controls="view-phones" type="button">Phones</button>
            <button id="tab-mail" role="tab" aria-controls="view-mail" type="button">Mail<b hidden></b></button>
            <button id="tab-push" role="tab" aria-controls="view-push" type="button">Push<b hidden></b></button>
          </nav>
          <dl class="counters">
            <div><dd id="count-messages">0</dd><dt>messages</dt></div>
            <div><dd id="count-phones">0</dd><dt>phones</dt></div>
            <div><dd id="count-delivered">0</dd><dt>delivered</dt></div>
            <div><dd id="count-minute">0</dd><dt>last minute</dt></div>
          </dl>
          <input id="filter" type="search" placeholder="Filter" aria-label="Filter by recipient or text"
            autocomplete="off" spellcheck="false">
          <span id="live" class="live" role="status">connecting</span>
          <button id="clear" class="plain" type="button" title="Forget all messages">Clear</button>
        </header>
        <main id="view-phones" role="tabpanel" aria-labelledby="tab-phones">
          <div id="wall" class="wall"></div>
          <p id="more" class="note" hidden></p>
          <p id="nothing" class="note" hidden>No phone matches.</p>
          <section id="empty" class="empty">
            <div class="ghost" aria-hidden="true"><i></i><i></i><i></i></div>
            <div>
              <h2>No messages yet</h2>
              <p>This gateway takes SMS at <code id="origin"></code> and shows each one here, on the phone it is for.
                Nothing is sent to anybody.</p>
              <p>Send a request through the fleet:</p>
              <pre><code>code-courier request send …</code></pre>
              <p>Or hand a message to the gateway, as Twilio would take it:</p>
              <pre><code id="example"></code><button id="copy-example" class="plain" type="button">Copy</button></pre>
            </div>
          </section>
        </main>
        <div id="toast" class="toast" role="status" aria-live="polite"></div>
        <template id="phone-template">
          <article class="phone">
            <div class="screen">
              <div class="status" aria-hidden="true">
                <span class="clock"></span>
                <span class="island"></span>
                <svg class="icons" viewBox="0 0 62 14">
                  <path d="M1 9.5h3v3H1zM6 7h3v5.5H6zM11 4.5h3v8h-3zM16 2h3v10.5h-3z"/>
                  <path d="M25 5.6a10 10 0 0 1 13 0l-1.4 1.6a7.9 7.9 0 0 0-10.2 0zM27.8 8.8a5.7 5.7 0 0 1 7.4 0l-3.7 4z"/>
                  <rect x="43.5" y="2.5" width="15" height="9" rx="2.5" class="shell"/>
                  <rect x="45" y="4" width="10" height="6" rx="1.2"/><path d="M60 5.5v3a2 2 0 0 0 0-3z"/>
                </svg>
              </div>
              <div class="contact"><span class="avatar" aria-hidden="true"></span><span class="sender"></span></div>
              <ol class="thread" tabindex="0"></ol>
              <div class="autofill" hidden><span>From Messages</span><button class="latest" type="button"></button></div>
              <div class="home" aria-hidden="true"></div>
            </div>
            <h2 class="caption"><bdi class="number"></bdi><span class="count"></span></h2>
          </article>
        </template>
        <template id="bubble-template">
          <li class="message">
            <p class="bubble" dir="auto"></p>
            <p class="meta"><time></time><span class="size"></span><span class="by"></span><span class="tick"></span></p>
          </li>
        </template>
        """#
}
