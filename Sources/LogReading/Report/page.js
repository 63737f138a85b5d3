// The page, drawn from the history of a fleet: times are in milliseconds since 1970.

const fleet = JSON.parse(document.getElementById('history').textContent);
const { timeline } = fleet;
const main = document.querySelector('main');

function section(title, words, ...parts) {
  main.append(make('section', {}, make('h2', {}, title), note(words), ...parts));
}

/** A section with one chart, or with the text `nothing` when there are no rows. */
function barSection(title, words, nothing, caption, unit, rows) {
  if (rows.length === 0) section(title, nothing);
  else section(title, words, barChart(caption, unit, rows));
}

/** A value for each bucket that any worker's heartbeat covers; null for the others. */
function values(value) {
  return timeline.pieces.map((piece) => piece.seconds > 0 ? value(piece) : null);
}

const pair = (...charts) => make('div', { class: 'pair' }, ...charts);
const only = (name, values, style = 'c-sent') => [{ name, style, values }];

// Header

/** True when entries were read but none of them is in the requested time range. */
const isOfOtherTimes = fleet.entries === 0 && fleet.lines > fleet.broken;

function headline() {
  if (fleet.first === undefined) {
    return `No ${isOfOtherTimes ? 'entry in the time asked for' : 'line'} in ${fleet.sources.join(', ')}`;
  }
  const counts = `${count(fleet.workers.length, 'worker')} · ${count(fleet.lines, 'line')} from ${list(fleet.sources)}`;
  return `${time(fleet.first)} to ${time(fleet.last)} UTC, ${span(fleet.last - fleet.first)} · ${counts}`;
}

function facts() {
  const { sent = 0, delivered = 0, rejected = 0, failed = 0, expired_unsent: late = 0, unknown = 0 } = fleet.decisions;
  const decided = fleet.requests - fleet.repeats;
  const highest = (name) => {
    const values = timeline.pieces.map((piece) => piece[name]).filter((value) => value !== undefined);
    return values.length > 0 ? whole(Math.max(...values)) : '–';
  };
  const toProvider = fleet.latencies.find(({ stage }) => stage === 'request_to_provider');
  const fact = (name, value, part = 0, all = 0, isBad = false) => make('div', {}, make('dt', {}, name),
    make('dd', isBad && part > 0 ? { class: 'bad' } : {}, value,
      part > 0 && all > 0 ? [' ', make('small', {}, percent(part / all))] : []));
  const latency = (name) => toProvider ? `${short(toProvider[name])} ms` : '–';
  return make('dl', { class: 'facts' },
    fact('requests', whole(fleet.requests)),
    fleet.spend.map(({ name, sum }) => fact('spent', `${decimal(sum, 2)} ${name}`)),
    fact('sent', whole(sent)),
    fact('delivered', whole(delivered), delivered, sent),
    fact('failed', whole(failed), failed, decided, true),
    fact('expired unsent', whole(late), late, decided, true),
    fact('most due sends', highest('dueSends')),
    fact('to the provider, p99', latency('p99')),
    fact('outcome unknown', whole(unknown), unknown, sent + unknown),
    fact('rejected', whole(rejected), rejected, decided),
    fact('of them repeats', whole(fleet.repeats), fleet.repeats, fleet.requests),
    fact('dead letters', whole(fleet.deadLetters)),
    fact('highest lag', highest('lag')),
    fact('to the provider, p50', latency('p50')));
}

/** Warnings about missing or unreliable data. */
function doubts() {
  const doubts = [], gaps = fleet.workers.flatMap(({ gaps }) => gaps);
  if (fleet.foreign.length > 0) {
    doubts.push(`Left out: ${list(fleet.foreign)}. No line is an entry in format json or otel, as in a compressed log `
      + 'and in one in format text.');
  }
  if (fleet.broken > 0) {
    doubts.push(`${whole(fleet.broken)} of ${whole(fleet.lines)} lines could not be read: cut off, or not of a worker `
      + 'in format json or otel.');
  }
  if (fleet.heartbeats === 0 && !isOfOtherTimes) {
    doubts.push('No heartbeat (worker.stats) is among the lines: there is nothing to count. Is log.level above info?');
  }
  if (fleet.wentBack) {
    doubts.push('Logs follow each other here: unless they are sorted, which sort does in format json, their workers\' '
      + 'lag is not added up.');
  }
  if (gaps.length > 0) {
    doubts.push(`${count(gaps.length, 'gap')} without heartbeat, the longest ${span(gaps.reduce((most, gap) => Math.max(most, gap), 0))}: lines are `
      + 'missing, or the worker was down. Counts of these times may be missing.');
  }
  return doubts.map((doubt) => make('p', { class: 'doubt' }, doubt));
}

document.querySelector('header').append(make('p', {}, headline()), facts(), ...doubts());

// Incidents

function incidentSection() {
  const { incidents, omittedIncidents } = fleet;
  if (incidents.length === 0) return section('Incidents', 'No outage, and no gap of a worker.');
  const row = ({ event, detail, from, to, workers }) => [
    time(from), to === undefined ? 'not over' : time(to), span((to ?? fleet.last) - from), event, list(workers), detail,
  ];
  section('Incidents',
    'Each from the line of its beginning to that of its end. A time without heartbeats of a worker is one, too.',
    table('Incidents', ['from', 'to', 'how long', 'event', 'workers', 'of'], incidents.map(row), true),
    omittedIncidents > 0 ? note(`${whole(omittedIncidents)} more are not shown.`) : []);
}

// Sections from heartbeats

function trafficSection() {
  const events = ordered(Object.keys(fleet.decisions)).map((status, index) => ({
    name: status,
    style: colour(status, index),
    values: values(({ decisions, seconds }) => (decisions[status] ?? 0) / seconds),
  }));
  section('Throughput', 'What was read from the requests topic, and the events that were published, by status.', pair(
    timeChart('Requests', 'a second', only('requests', values(({ requests, seconds }) => requests / seconds))),
    events.length > 0 ? timeChart('Events', 'a second', events, true) : []));
}

function spendSection() {
  const { spend, spendByRegion, spendByBudget } = fleet;
  if (spend.length === 0) return;
  const rows = (ranks) => ranks.map(({ name, sum }) => [name, decimal(sum, 4)]);
  const lines = spend.map(({ name }, index) => ({
    name, style: colour(name, index), values: values(({ spend, seconds }) => 3600 * (spend[name] ?? 0) / seconds),
  }));
  section('Money', 'The price of the text messages that providers took, by the policy\'s prices. A message may have several '
    + 'budgets; one that another worker took over is in none.',
  timeChart('Money', 'an hour', lines),
  pair(
    table('By region', ['region', 'spent'], rows(spendByRegion)),
    spendByBudget.length > 0 ? table('By budget', ['budget', 'spent'], rows(spendByBudget)) : []));
}

function latencySection() {
  if (fleet.latencies.length === 0) return section('Latency', 'No stage was measured.');
  const meanings = {
    request_to_provider: 'from the record\'s time to the provider\'s call',
    request_to_event: 'from the record\'s time to the acknowledged event',
    queue: 'from the record\'s time to its decision',
    dispatch: 'from the claim to the provider\'s call',
    provider: 'the provider\'s call',
  };
  const chart = ({ stage }) => {
    const unit = Object.hasOwn(meanings, stage) ? `ms, ${meanings[stage]}` : 'ms';
    return timeChart(stage, unit, ['p50', 'p90', 'p99'].map((name) => ({
      name,
      style: colour(name),
      values: values(({ latencies }) => latencies.find((each) => each.stage === stage)?.[name]),
    })));
  };
  section('Latency', 'Milliseconds by stage. p50 and p90 are means over the workers, p99 is the worst of them.',
    table('Latency in ms, whole time', ['stage', 'p50', 'p90', 'p99', 'max'],
      fleet.latencies.map(({ stage, p50, p90, p99, max }) => [stage, ...[p50, p90, p99, max].map(short)])),
    pair(...fleet.latencies.map(chart)));
}

function backlogSection() {
  const charts = [
    ['Lag', 'records behind, all partitions', values(({ lag }) => lag)],
    ['Due sends', 'waiting in PostgreSQL', values(({ dueSends }) => dueSends)],
    ['Outbox', 'events not yet published', values(({ outbox }) => outbox)],
  ].filter(([, , values]) => values.some((value) => value != null));
  section('Backlog',
    'The most of each piece of time. Records wait in Kafka, sends in PostgreSQL once their request was decided.',
    pair(...charts.map(([title, unit, values]) => timeChart(title, unit, only(title, values)))));
}

function unknownSection() {
  const share = values(({ decisions: { unknown = 0, sent = 0 } }) =>
    unknown + sent > 0 ? 100 * unknown / (unknown + sent) : null);
  section('Unknown outcomes',
    'Messages of which nobody can know whether the provider took them, of those that were handed over.',
    timeChart('Unknown', '%', only('unknown', share, 'c-unknown')));
}

function pauseSection() {
  const { pauses, omittedPauses } = fleet;
  if (pauses.length === 0) return section('Breakers', 'No provider was paused.');
  section('Breakers',
    'A breaker passes a provider over that fails. A pause is over when the next message may ask it again.',
    pauseChart(pauses, omittedPauses, Math.min(timeline.start, fleet.first), Math.max(timeline.end, fleet.last)));
}

// Sections from all lines

function problemSection() {
  const { problems, retries } = fleet;
  const parts = [];
  if (retries.length > 0) {
    const words = retries.map(({ name, sum }) => `${name} ${whole(sum)}`).join(', ');
    parts.push(make('p', {}, `Failures that were retried: ${words}.`));
  }
  if (problems.length > 0) {
    const head = ['event', 'severity', 'lines', 'first', 'last', 'of'];
    parts.push(table('Warnings and errors', head, problems.map(({ event, severity, count, first, last, detail }) =>
      [event, severity, whole(count), time(first), time(last), detail]), true));
  }
  section('Errors', parts.length === 0 ? 'No warning, no error, no retry.' :
    'Lines of warnings and errors that say the same, the gravest first.', ...parts);
}

function workerSection() {
  if (fleet.workers.length === 0) return section('Workers', 'No line names its worker.');
  const head = [
    'worker', 'first line', 'last line', 'uptime', 'end', 'heartbeats', 'gaps', 'requests', 'peak memory', 'CPU cores',
  ];
  const row = (worker) => [
    worker.name, time(worker.first), time(worker.last), worker.uptime === undefined ? '–' : span(worker.uptime),
    worker.hasStopped ? 'stopped' : '–', String(worker.heartbeats),
    worker.gaps.length > 0 ? `${worker.gaps.length}, longest ${span(Math.max(...worker.gaps))}` : 'none',
    whole(worker.requests), worker.peakBytes === undefined ? '–' : `${whole(worker.peakBytes / 1_048_576)} MiB`,
    short(worker.cores),
  ];
  section('Workers',
    'A row for each host and process number. In a container a worker that is started again keeps both and its row.',
    table('Workers', head, fleet.workers.map(row)));
}

function brakeSection() {
  const { refused, recorded, mostBlocked } = fleet.brake;
  if (refused + recorded + mostBlocked === 0) return;
  section('Toll-fraud brake', `At most ${count(mostBlocked, 'scope')} blocked at a time. `
    + `${count(refused, 'request')} refused, ${whole(recorded)} only recorded.`);
}

function routeSection() {
  if (fleet.routes.length === 0) return;
  const row = ({ tenant, region, provider, share, conversion, messages }) => [
    tenant, region || 'others', provider, `${whole(share)} %`, `${whole(conversion)} %`, whole(messages),
  ];
  section('Adaptive routes', 'The last shares that were reported, with the part of first messages whose codes are '
    + 'approved; older messages count less.',
    table('Shares by region', ['tenant', 'region', 'provider', 'share', 'conversion', 'messages'], fleet.routes.map(row)));
}

function lineSection() {
  section('Lines', 'What this page was made from: the readable lines by their event.',
    folded(table('Lines by event', ['event', 'lines'], fleet.events.map(({ name, sum }) => [name, whole(sum)]))));
}

if (fleet.entries > 0) incidentSection();
if (fleet.heartbeats > 0) {
  trafficSection();
  barSection('Regions', 'Outcomes by the region of the recipient; XX is a region that the number does not tell.',
    'No region was counted.', 'Outcomes by region', 'events', fleet.regions);
  barSection('Providers', 'What providers answered. A message that one refuses may be counted at the next one again.',
    'No provider was asked.', 'Answers by provider', 'calls', fleet.providers);
  routeSection();
  spendSection();
  latencySection();
  backlogSection();
  barSection('Refusals', 'Requests that were refused, by the reason that their events give.', 'No request was refused.',
    'Refusals by reason', 'requests', fleet.rules.map(({ name, sum }) => ({ name, sums: { rejected: sum } })));
  brakeSection();
  unknownSection();
  pauseSection();
}
problemSection();
workerSection();
lineSection();
