'use strict';

// The phones. Text from messages is inserted as text nodes only.

const phoneLimit = 120, phoneMemory = 2000, bubbleLimit = 40;
const find = (id) => document.getElementById(id);
const wall = find('wall'), live = find('live'), filter = find('filter');
/** Phones by number; the phone with the newest message is last. */
let phones = new Map();
/** Entries of messages by id. */
let known = new Map();
const providers = { twilio: 'Twilio', vonage: 'Vonage', vonage_messages: 'Vonage Messages', sns: 'SNS', http: 'HTTP' };
let total = 0, delivered = 0, arrivals = [], waiting = [], flushTimer = 0, settled = false;

// Phones

function makePhone(number) {
  const root = find('phone-template').content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector('.' + name);
  const phone = {
    number, root, thread: part('thread'), sender: part('sender'), avatar: part('avatar'), autofill: part('autofill'),
    latest: part('latest'), count: part('count'), clock: part('clock'), bubbles: [], messages: 0,
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
  const phone = phones.get(message.to) ?? makePhone(message.to);
  phones.delete(message.to);
  phones.set(message.to, phone);
  phone.messages += 1;
  phone.count.textContent = phone.messages === 1 ? '1 message' : phone.messages.toLocaleString() + ' messages';
  showSender(phone, message.from || message.messagingServiceSid || 'Unknown');
  phone.autofill.hidden = !message.code;
  phone.latest.textContent = message.code ?? '';
  addBubble(phone, message);
  total += 1;
  if (message.status === 'delivered') delivered += 1;
  arrivals.push(Date.parse(message.receivedAt));
  place(phone);
}

/** Moves a phone to the front, unless the pointer is over the wall: phones must not move under the pointer. */
function place(phone) {
  if (!fits(phone)) phone.root.remove();
  else if (!phone.root.isConnected || !wall.matches(':hover')) {
    if (wall.firstElementChild !== phone.root) wall.prepend(phone.root);
  }
  phone.thread.scrollTop = phone.thread.scrollHeight;
  if (settled) pulse(phone.root);
}

/** Fills the wall with the newest phones that match the filter. */
function arrange() {
  const shown = [...phones.values()].filter(fits).slice(-phoneLimit).reverse();
  shown.forEach(({ root, thread }, index) => {
    if (wall.children[index] === root) return;
    wall.insertBefore(root, wall.children[index] ?? null);
    thread.scrollTop = thread.scrollHeight;
  });
  while (wall.children.length > shown.length) wall.lastElementChild.remove();
}

function addBubble(phone, message) {
  const root = find('bubble-template').content.firstElementChild.cloneNode(true);
  const words = (message.from + ' ' + message.body).toLowerCase();
  const entry = { message, words, root, tick: root.querySelector('.tick'), phone };
  const time = root.querySelector('time'), date = new Date(message.receivedAt);
  fillBubble(root.querySelector('.bubble'), message);
  time.dateTime = message.receivedAt;
  time.title = date.toLocaleString();
  time.textContent = clockText(date, true);
  root.querySelector('.size').textContent = message.segments + ' × ' + message.encoding;
  root.querySelector('.by').textContent = providers[message.provider] ?? message.provider;
  showStatus(entry);
  if (message.code) root.append(answerLine('Use this code', message.sid, message.code));
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

/** Updates a message's status; a message without a bubble is only counted. */
function receiveStatus(message) {
  const entry = known.get(message.sid);
  if (entry) update(entry, message);
  else if (message.status === 'delivered') delivered += 1;
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
  if (message.confirmed) tick.textContent += ' · code used';
}

function showSender(phone, name) {
  if (phone.sender.textContent === name) return;
  let hue = 7;
  for (const letter of name) hue = (hue * 31 + letter.codePointAt(0)) % 360;
  phone.sender.textContent = /^\+\d+$/.test(name) ? spaced(name) : name;
  phone.avatar.textContent = /^\p{L}/u.test(name) ? [...name][0].toUpperCase() : '#';
  phone.avatar.style.setProperty('--hue', hue);
}

/** Splits the body: each occurrence of the code becomes a button, and the autofill line a separate element. */
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

/** A span and no button, after which a full stop could wrap to the next line. */
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
