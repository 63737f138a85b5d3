// The tabs, the mailbox and the pushes. A mail's HTML is shown in a frame without any rights; all other text is
// inserted as text nodes only.

// Views

const views = ['phones', 'mail', 'push', 'requests'], parts = ['html', 'text', 'links'], listLimit = 500;
let view = 'phones';

function showView(name) {
  view = views.includes(name) ? name : 'phones';
  document.body.dataset.view = view;
  for (const each of views) find('view-' + each).hidden = each !== view;
  select(views.map((each) => find('tab-' + each)), find('tab-' + view));
}

/** Selects a tab, which becomes the only one in the Tab key's order. */
function select(tabs, chosen) {
  for (const tab of tabs) {
    tab.setAttribute('aria-selected', tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
  }
}

/** Lets clicks and arrow keys select tabs. */
function wireTabs(tabs, choose) {
  tabs.forEach((tab) => {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const open = tabs.filter((each) => !each.hidden);
      const next = open[(open.indexOf(tab) + step + open.length) % open.length];
      choose(next);
      next.focus();
    });
  });
}

// Mail

/** E-mails with their list entries, by sequence number; the newest is last. */
let mails = new Map();
/** The open e-mail's entry, kept even after it was removed from the list. */
let opened = null, pushes = 0;

function receiveMail(mail) {
  if (mails.has(mail.sequence)) return;
  const root = find('mail-template').content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector(name);
  const date = new Date(mail.receivedAt);
  part('.who').textContent = displayName(mail.from);
  part('.what').textContent = mail.subject || '(no subject)';
  part('.to').textContent = 'to ' + mail.to.join(', ');
  part('time').textContent = clockText(date, true);
  part('time').dateTime = mail.receivedAt;
  const words = [mail.from, mail.to.join(' '), mail.subject, mail.text ?? ''].join(' ').toLowerCase();
  root.firstElementChild.addEventListener('click', () => openMail(mail.sequence, true));
  mails.set(mail.sequence, { mail, root, words });
  if (settled) root.classList.add('fresh');
  find('mail-list').prepend(root);
  root.hidden = !fitsWords(words);
  if (mails.size > listLimit) {
    const [oldest, entry] = mails.entries().next().value;
    entry.root.remove();
    mails.delete(oldest);
  }
}

/** On a wide page, opens the newest e-mail beside the list until the user opens one. */
function openNewest() {
  if (opened !== null || mails.size === 0 || !matchMedia('(min-width: 861px)').matches) return;
  openMail([...mails.keys()].at(-1), false);
}

/** The name before an address in angle brackets, or else the whole text. */
function displayName(from) {
  const name = /^\s*"?([^"<]*?)"?\s*</.exec(from)?.[1];
  return name || from;
}

function openMail(sequence, byHand) {
  const entry = mails.get(sequence);
  if (!entry) return;
  const { mail } = entry;
  opened?.root.firstElementChild.removeAttribute('aria-current');
  entry.root.firstElementChild.setAttribute('aria-current', 'true');
  opened = entry;
  find('mail-subject').textContent = mail.subject || '(no subject)';
  find('mail-from').textContent = mail.from || '(nobody)';
  find('mail-to').textContent = mail.to.join(', ');
  find('mail-time').textContent = new Date(mail.receivedAt).toLocaleString();
  find('mail-size').textContent = (mail.size / 1024).toFixed(1) + ' KB';
  find('mail-text').textContent = mail.text ?? '';
  find('mail-links').replaceChildren(...mail.links.map(linkLine));
  find('copy-link').hidden = mail.links.length === 0;
  find('copy-code').hidden = !mail.code;
  find('copy-code').querySelector('b').textContent = mail.code ?? '';
  const answers = [];
  const link = mail.links.find((each) => each.includes('oobCode='));
  if (link) answers.push(answerLine('Open this link', mail.sid, link));
  if (mail.code) answers.push(answerLine('Use this code', mail.sid, mail.code));
  find('mail-answers').replaceChildren(...answers);
  find('part-html').hidden = mail.html == null;
  find('part-text').hidden = mail.text == null;
  find('part-links').hidden = mail.links.length === 0;
  showPart(mail.html != null ? 'html' : 'text');
  find('view-mail').dataset.reading = byHand || find('view-mail').dataset.reading || '';
  summariseMail();
  // On a narrow page the list is now hidden, together with its focused entry.
  if (byHand && find('mail-back').checkVisibility()) find('mail-back').focus();
}

function showPart(name) {
  for (const each of parts) find('mail-' + each).hidden = each !== name;
  const frame = find('mail-html'), address = '/sandbox/emails/' + opened.mail.sequence + '/html';
  if (name === 'html' && frame.dataset.shown !== address) {
    frame.src = address;
    frame.dataset.shown = address;
  }
  select(parts.map((each) => find('part-' + each)), find('part-' + name));
}

function linkLine(link) {
  const line = document.createElement('li'), text = document.createElement('code');
  text.textContent = link;
  line.append(text, copyButton(link, 'the link'));
  return line;
}

function copyButton(text, what) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy ' + what);
  button.addEventListener('click', () => copy(text, what));
  return button;
}

// Pushes

function receivePush(push) {
  const root = find('push-template').content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector(name);
  part('h2').textContent = push.topic;
  part('time').textContent = clockText(new Date(push.receivedAt), true);
  part('time').dateTime = push.receivedAt;
  part('.token').textContent = push.token;
  for (const name of ['receipt', 'secret']) {
    const value = document.createElement('code');
    value.textContent = push[name] ?? '–';
    part('.' + name).append(value);
    if (push[name]) part('.' + name).append(copyButton(push[name], 'the ' + name));
  }
  part('pre').textContent = push.payload;
  if (push.secret) root.querySelector('dl').after(answerLine('Answer as the app', push.sid, push.secret));
  root.dataset.words = [push.topic, push.token].join(' ').toLowerCase();
  root.hidden = !fitsWords(root.dataset.words);
  if (settled) root.classList.add('fresh');
  find('push-list').prepend(root);
  pushes += 1;
  if (find('push-list').children.length > listLimit) find('push-list').lastElementChild.remove();
}

// E-mails and pushes

function fitsWords(words) {
  return words.includes(filter.value.trim().toLowerCase());
}

function filterMail() {
  for (const { root, words } of mails.values()) root.hidden = !fitsWords(words);
  for (const list of ['push-list', 'delivery-list']) {
    for (const root of find(list).children) root.hidden = !fitsWords(root.dataset.words);
  }
}

function summariseMail() {
  for (const [name, count] of [['mail', mails.size], ['push', pushes], ['requests', deliveries]]) {
    const badge = find('tab-' + name).querySelector('b');
    badge.textContent = count.toLocaleString();
    badge.hidden = count === 0;
  }
  find('view-mail').classList.toggle('full', mails.size > 0);
  find('mail-empty').hidden = mails.size > 0;
  find('mail-open').hidden = opened === null;
  find('mail-none').hidden = opened !== null || mails.size === 0;
  find('no-match').hidden = mails.size === 0 || [...mails.values()].some(({ root }) => !root.hidden);
  find('push-empty').hidden = pushes > 0;
  find('delivery-empty').hidden = deliveries > 0;
}

function forgetMail() {
  mails = new Map();
  [opened, pushes] = [null, 0];
  find('view-mail').dataset.reading = '';
  const frame = find('mail-html');
  frame.removeAttribute('src');
  delete frame.dataset.shown;
  find('mail-list').replaceChildren();
  find('push-list').replaceChildren();
  forgetDeliveries();
}

wireTabs(views.map((each) => find('tab-' + each)), (tab) => { location.hash = tab.id.slice(4); });
wireTabs(parts.map((each) => find('part-' + each)), (tab) => showPart(tab.id.slice(5)));
window.addEventListener('hashchange', () => showView(location.hash.slice(1)));
find('copy-link').addEventListener('click', () => copy(opened.mail.links[0], 'the link'));
find('copy-code').addEventListener('click', () => copy(opened.mail.code));
find('mail-back').addEventListener('click', () => {
  find('view-mail').dataset.reading = '';
  opened?.root.firstElementChild.focus();
});
find('push-origin').textContent = location.origin + '/3/device/…';
showView(location.hash.slice(1));
