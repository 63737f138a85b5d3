// The fleet beside the sandbox, if there is one: requests, delivery events, and checks of what a message holds. Every
// text is inserted as a text node.

let hasFleet = false, deliveries = 0;
/** The form's latest request: its id, and the statuses that its events have. */
let asked = { id: '', statuses: [] };

const spelled = (word) => word.replaceAll('_', ' ');

async function post(path, value) {
  const headers = { 'content-type': 'application/json' };
  try {
    const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(value) });
    return await answer.json();
  } catch {
    return { error: 'the sandbox does not answer: has it ended?' };
  }
}

/** A button that checks a guess at a message, and the verdict beside it. */
function answerLine(words, message, guess) {
  const line = document.createElement('p'), button = document.createElement('button');
  const verdict = document.createElement('span');
  line.className = 'answer';
  button.type = 'button';
  button.className = 'plain strong';
  button.textContent = words;
  verdict.className = 'verdict';
  verdict.role = 'status';
  button.addEventListener('click', () => check(message, guess, verdict));
  line.append(button, verdict);
  return line;
}

async function check(message, guess, verdict) {
  verdict.dataset.status = '';
  verdict.textContent = 'checking';
  const { status, checksLeft, error } = await post('/sandbox/checks', { message, guess });
  verdict.dataset.status = status ?? 'error';
  verdict.textContent = error ?? (status === 'approved' ? '✓ approved' : '✕ ' + spelled(status));
  if (status === 'incorrect') verdict.textContent += ', ' + checksLeft + ' guesses left';
}

// Requests and delivery events

async function makeRequest(event) {
  event.preventDefault();
  const field = find('request-to'), box = find('request-outcome'), to = field.value.trim();
  if (!to) return;
  find('request-send').disabled = true;
  box.dataset.status = '';
  box.textContent = 'asking for a code';
  const { requestId, error } = await post('/sandbox/requests', { to });
  find('request-send').disabled = false;
  asked = { id: requestId ?? '', statuses: [] };
  if (error) {
    box.dataset.status = 'error';
    box.textContent = error;
  } else {
    box.textContent = 'published; no event yet';
    // Its event may have come before the answer.
    for (const row of [...find('delivery-list').children].reverse()) if (row.dataset.request === requestId) follow(row);
  }
}

/** Shows what has become of the form's request. */
function follow({ dataset }) {
  const box = find('request-outcome');
  asked.statuses.push(dataset.reason ? spelled(dataset.status) + ' (' + spelled(dataset.reason) + ')' : spelled(dataset.status));
  box.dataset.status = dataset.status;
  box.textContent = asked.statuses.join(' → ');
}

function receiveDelivery(delivery) {
  const root = find('delivery-template').content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector('.' + name);
  const set = (name, text) => { part(name).textContent = text ?? ''; };
  root.querySelector('time').textContent = clockText(new Date(delivery.occurredAt), true);
  root.querySelector('time').dateTime = delivery.occurredAt;
  part('what').dataset.status = delivery.status;
  set('what', spelled(delivery.status));
  set('why', delivery.reason && spelled(delivery.reason));
  set('whom', [delivery.recipient, delivery.region].filter(Boolean).join(' '));
  set('how', [delivery.purpose && spelled(delivery.purpose), delivery.provider && 'by ' + delivery.provider]
    .filter(Boolean).join(', '));
  const id = delivery.verificationId ?? delivery.requestId;
  set('id', (delivery.verificationId ? 'verification …' : 'request …') + id.slice(-6));
  part('id').title = id;
  Object.assign(root.dataset, { request: delivery.requestId, status: delivery.status, reason: delivery.reason ?? '' });
  root.dataset.words = root.textContent.replace(/\s+/g, ' ').toLowerCase();
  root.hidden = !fitsWords(root.dataset.words);
  if (settled) root.classList.add('fresh');
  find('delivery-list').prepend(root);
  deliveries += 1;
  if (find('delivery-list').children.length > listLimit) find('delivery-list').lastElementChild.remove();
  if (delivery.requestId === asked.id) follow(root);
}

function forgetDeliveries() {
  deliveries = 0;
  find('delivery-list').replaceChildren();
}

/** Learns where mail is taken, and about the fleet, which may start later than the page. */
async function learn() {
  const answer = await fetch('/sandbox/health');
  const { smtpPort, fleet } = await answer.json();
  find('smtp-origin').textContent = location.hostname + ':' + smtpPort;
  hasFleet = Boolean(fleet);
  document.body.classList.toggle('fleet', hasFleet);
  find('tab-requests').hidden = !hasFleet;
  find('request-note').textContent = fleet ?? '';
  if (!hasFleet && view === 'requests') showView('phones');
}

find('request-form').addEventListener('submit', makeRequest);
