// SPDX-License-Identifier: Apache-2.0

extension Page {
    /// The page's behaviour: follows the event stream and keeps the phones.
    ///
    /// Text from messages reaches the page as text nodes only.
    static let script = #"""

        'use strict';
        const phoneLimit = 120, phoneMemory = 2000, bubbleLimit = 40;
        const find = (id) => document.getElementById(id);
        const wall = find('wall'), live = find('live'), filter = find('filter');
        /** Number → phone; the phone with the newest message is last. */
        let phones = new Map();
        /** Identity → message. */
        let known = new Map();
        let total = 0, delivered = 0, arrivals = [], waiting = [], flushTimer = 0, settled = false;

        // Phones

        function makePhone(number) {
          const root = find('phone-template').content.firstElementChild.cloneNode(true);
          const part = (name) => root.querySelector('.' + name);
          const phone = {
            number, root, thread: part('thread'), sender: part('sender'), avatar: part('avatar'), autofill: part('autofill'),
            latest: part('latest'), count: part('count'), clock: part('clock'), bubbles: [], messages: 0, words: '',
          };
          root.setAttribute('aria-label', 'Phone ' + number);
          part('number').textContent = spaced(number);
          phone.clock.textContent = clockText(new Date());
          phone.latest.addEventListener('click', () => copy(phone.latest.textContent));
          return phone;
        }

        function receive(message) {
          const old = known.get(message.sid);
          if (old) return update(old, message);
          const isFirst = !phones.has(message.to);
          const phone = phones.get(message.to) ?? makePhone(message.to);
          phones.delete(message.to);
          phones.set(message.to, phone);
          phone.messages += 1;
          phone.count.textContent = phone.messages === 1 ? '1 message' : phone.messages.toLocaleString() + ' messages';
          showSender(phone, message.from || message.messagingServiceSid || 'Unknown');
          phone.autofill.hidden = !message.code;
          phone.latest.textContent = message.code ?? '';
          phone.words = (message.from + ' ' + message.body).toLowerCase();
          addBubble(phone, message);
          total += 1;
          if (message.status === 'delivered') delivered += 1;
          arrivals.push(Date.parse(message.receivedAt));
          place(phone, isFirst);
        }

        /** A phone that is pointed at stays where it is until the pointer leaves the wall. */
        function place(phone, isFirst) {
          if (isFirst || !wall.matches(':hover')) {
            if (wall.firstElementChild !== phone.root) wall.prepend(phone.root);
          }
          phone.thread.scrollTop = phone.thread.scrollHeight;
          phone.root.hidden = !fits(phone);
          if (settled) pulse(phone.root);
        }

        function arrange() {
          const newestFirst = [...phones.values()].reverse();
          newestFirst.forEach((phone, index) => {
            if (index >= phoneLimit) phone.root.remove();
            else if (wall.children[index] !== phone.root) {
              wall.insertBefore(phone.root, wall.children[index] ?? null);
              phone.thread.scrollTop = phone.thread.scrollHeight;
            }
          });
        }

        function addBubble(phone, message) {
          const root = find('bubble-template').content.firstElementChild.cloneNode(true);
          const entry = { message, root, tick: root.querySelector('.tick'), phone };
          const time = root.querySelector('time'), date = new Date(message.receivedAt);
          fillBubble(root.querySelector('.bubble'), message);
          time.dateTime = message.receivedAt;
          time.title = date.toLocaleString();
          time.textContent = clockText(date, true);
          root.querySelector('.size').textContent = message.segments + ' × ' + message.encoding;
          showStatus(entry);
          if (settled) root.classList.add('fresh');
          phone.thread.append(root);
          phone.bubbles.push(entry);
          known.set(message.sid, entry);
          if (phone.bubbles.length > bubbleLimit) {
            const oldest = phone.bubbles.shift();
            oldest.root.remove();
            known.delete(oldest.message.sid);
          }
        }

        function update(entry, message) {
          if (message.status === 'delivered' && entry.message.status !== 'delivered') delivered += 1;
          entry.message = message;
          showStatus(entry);
        }

        function showStatus({ message, tick }) {
          const words = { queued: '◷ queued', sent: '✓ sent', delivered: '✓✓ delivered', undelivered: '✕ undelivered' };
          tick.dataset.status = message.status;
          tick.textContent = words[message.status] ?? message.status;
          if (message.errorCode) tick.textContent += ' ' + message.errorCode;
        }

        function showSender(phone, name) {
          if (phone.sender.textContent === name) return;
          let hue = 7;
          for (const letter of name) hue = (hue * 31 + letter.codePointAt(0)) % 360;
          phone.sender.textContent = /^\+\d+$/.test(name) ? spaced(name) : name;
          phone.avatar.textContent = /^\p{L}/u.test(name) ? [...name][0].toUpperCase() : '#';
          phone.avatar.style.setProperty('--hue', hue);
        }

        /** The body in pieces: each occurrence of the code is a button, the autofill line is set apart. */
        function fillBubble(bubble, { body, code }) {
          const bound = /\n+(@\S+ #\S[^\n]*)$/.exec(body);
          const text = bound ? body.slice(0, bound.index) : body;
          const pieces = code ? text.split(code) : [text];
          pieces.forEach((piece, index) => {
            if (index > 0) bubble.append(codeButton(code));
            bubble.append(piece);
          });
          if (!bound) return;
          const line = document.createElement('span');
          line.className = 'bound';
          line.textContent = bound[1];
          bubble.append(line);
        }

        /** A real button would let a full stop behind it go to the next line. */
        function codeButton(code) {
          const button = document.createElement('span');
          button.role = 'button';
          button.tabIndex = 0;
          button.className = 'code';
          button.title = 'Copy';
          button.textContent = code;
          button.addEventListener('click', () => copy(code));
          button.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            copy(code);
          });
          return button;
        }

        function pulse(root) {
          root.classList.remove('fresh');
          requestAnimationFrame(() => root.classList.add('fresh'));
        }

        // Text

        function clockText(date, seconds = false) {
          const style = { hour: '2-digit', minute: '2-digit', hour12: false };
          return date.toLocaleTimeString([], seconds ? { ...style, second: '2-digit' } : style);
        }

        /** An E.164 number in groups, its calling code first. */
        function spaced(number) {
          const digits = number.slice(1);
          const two = /^(2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;
          const length = /^[17]/.test(digits) ? 1 : two.test(digits) ? 2 : 3;
          const rest = digits.slice(length);
          const groups = rest.length === 10 ? [rest.slice(0, 3), rest.slice(3, 6), rest.slice(6)] : rest.match(/\d{2,3}(?=(\d{3})*$)|\d+/g);
          return '+' + digits.slice(0, length) + ' ' + (groups ?? [rest]).join(' ');
        }

        async function copy(text) {
          try {
            await navigator.clipboard.writeText(text);
          } catch {
            const area = document.createElement('textarea');
            area.value = text;
            document.body.append(area);
            area.select();
            document.execCommand('copy');
            area.remove();
          }
          toast('Copied ' + (text.length > 20 ? 'the command' : text));
        }

        let toastTimer = 0;
        function toast(text) {
          const box = find('toast');
          box.textContent = text;
          box.classList.add('shown');
          clearTimeout(toastTimer);
          toastTimer = setTimeout(() => box.classList.remove('shown'), 1600);
        }

        // The bar

        function fits(phone) {
          const wanted = filter.value.trim().toLowerCase();
          const digits = wanted.replace(/[\s+().-]/g, '');
          if (/^\d*$/.test(digits)) return phone.number.includes(digits);
          return phone.words.includes(wanted);
        }

        function applyFilter() {
          for (const phone of phones.values()) phone.root.hidden = !fits(phone);
          summarise();
        }

        function summarise() {
          const since = Date.now() - 60000;
          while (arrivals.length && arrivals[0] < since) arrivals.shift();
          const show = (name, value) => { find('count-' + name).textContent = value.toLocaleString(); };
          show('messages', total);
          show('phones', phones.size);
          show('delivered', delivered);
          show('minute', arrivals.length);
          find('empty').hidden = phones.size > 0 || !settled;
          find('nothing').hidden = phones.size === 0 || [...wall.children].some((root) => !root.hidden);
          find('more').hidden = phones.size <= phoneLimit;
          find('more').textContent = 'The ' + phoneLimit + ' phones with the newest messages are shown.';
        }

        function forget() {
          phones = new Map();
          known = new Map();
          [total, delivered, arrivals, waiting] = [0, 0, [], []];
          wall.replaceChildren();
        }

        // The stream

        /** Many messages at once are shown together. */
        function flush() {
          flushTimer = 0;
          const batch = waiting;
          waiting = [];
          for (const message of batch) receive(message);
          if (phones.size > phoneLimit) trim();
          settled = true;
          summarise();
        }

        function trim() {
          const surplus = [...wall.children].slice(phoneLimit);
          for (const root of surplus) root.remove();
          for (const [number, phone] of phones) {
            if (phones.size <= phoneMemory) break;
            for (const { message } of phone.bubbles) known.delete(message.sid);
            phones.delete(number);
          }
        }

        function enqueue(event) {
          waiting.push(JSON.parse(event.data));
          flushTimer ||= setTimeout(flush, 30);
        }

        function connect() {
          const source = new EventSource('/sandbox/events?after=0');
          const show = (state, text) => { live.dataset.state = state; live.textContent = text; };
          source.addEventListener('open', () => {
            show('live', 'live');
            flushTimer ||= setTimeout(flush, 60);
          });
          source.addEventListener('message', enqueue);
          source.addEventListener('status', enqueue);
          source.addEventListener('reset', () => { forget(); summarise(); });
          source.addEventListener('error', () => {
            show('lost', 'reconnecting');
            if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
          });
        }

        find('origin').textContent = location.origin;
        find('example').textContent = 'curl -u ACdemo:token ' + location.origin + '/2010-04-01/Accounts/ACdemo/Messages.json'
          + " --data-urlencode To=+14155550123 --data-urlencode From=Acme --data-urlencode 'Body=123456 is your Acme code.'";
        find('copy-example').addEventListener('click', () => copy(find('example').textContent));
        find('clear').addEventListener('click', () => fetch('/sandbox/messages', { method: 'DELETE' }));
        filter.addEventListener('input', applyFilter);
        wall.addEventListener('pointerleave', arrange);
        document.addEventListener('keydown', (event) => {
          if (event.key !== '/' || event.target === filter) return;
          event.preventDefault();
          filter.focus();
        });
        setInterval(() => {
          const text = clockText(new Date());
          for (const phone of phones.values()) phone.clock.textContent = text;
          summarise();
        }, 5000);
        connect();

        """#
}
