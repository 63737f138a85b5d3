// Formatting of numbers and times, the toolbar, and the event stream that feeds the views.

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

async function copy(text, what) {
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
  toast('Copied ' + (what ?? text));
}

let toastTimer = 0;
function toast(text) {
  const box = find('toast');
  box.textContent = text;
  box.classList.add('shown');
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => box.classList.remove('shown'), 1600);
}

// Toolbar

function fits(phone) {
  const wanted = filter.value.trim().toLowerCase();
  const digits = wanted.replace(/[\s+().-]/g, '');
  if (/^\d*$/.test(digits) && phone.number.includes(digits)) return true;
  return phone.bubbles.some(({ words }) => words.includes(wanted));
}

function applyFilter() {
  arrange();
  filterMail();
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
  summariseMail();
  const matches = [...phones.values()].filter(fits).length;
  find('nothing').hidden = phones.size === 0 || matches > 0;
  find('more').hidden = matches <= phoneLimit;
  find('more').textContent = 'The ' + phoneLimit + ' phones with the newest messages are shown.';
}

function forget() {
  phones = new Map();
  known = new Map();
  [total, delivered, arrivals, waiting] = [0, 0, [], []];
  wall.replaceChildren();
  forgetMail();
}

// Event stream

const receivers = { message: receive, status: receiveStatus, email: receiveMail, push: receivePush, delivery: receiveDelivery };

/** Shows the messages that arrived since the last flush, in one batch. */
function flush() {
  flushTimer = 0;
  const batch = waiting;
  waiting = [];
  for (const [kind, value] of batch) receivers[kind](value);
  if (phones.size > phoneLimit) trim();
  if (!wall.matches(':hover')) arrange();
  openNewest();
  if (!settled && !location.hash && phones.size === 0) showView(mails.size ? 'mail' : pushes ? 'push' : 'phones');
  settled = true;
  summarise();
}

function trim() {
  while (wall.children.length > phoneLimit) wall.lastElementChild.remove();
  for (const [number, phone] of phones) {
    if (phones.size <= phoneMemory) break;
    for (const { message } of phone.bubbles) known.delete(message.sid);
    phone.root.remove();
    phones.delete(number);
  }
}

function enqueue(event) {
  waiting.push([event.type, JSON.parse(event.data)]);
  flushTimer ||= setTimeout(flush, 30);
}

function connect(again) {
  const source = new EventSource('/sandbox/events?after=0');
  // After a reconnect the stream starts from the beginning, so the old entries are dropped.
  if (again) source.addEventListener('open', forget, { once: true });
  const show = (state, text) => { live.dataset.state = state; live.textContent = text; };
  source.addEventListener('open', () => {
    show('live', 'live');
    learn();
    flushTimer ||= setTimeout(flush, 60);
  });
  for (const kind of Object.keys(receivers)) source.addEventListener(kind, enqueue);
  source.addEventListener('reset', () => { forget(); summarise(); });
  source.addEventListener('error', () => {
    show('lost', 'reconnecting');
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000, true);
  });
}

find('origin').textContent = location.origin;
find('example').textContent = 'curl -u ACdemo:token ' + location.origin + '/2010-04-01/Accounts/ACdemo/Messages.json'
  + " --data-urlencode To=+14155550123 --data-urlencode From=Acme --data-urlencode 'Body=123456 is your Acme code.'";
find('copy-example').addEventListener('click', () => copy(find('example').textContent, 'the command'));
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
connect(false);
