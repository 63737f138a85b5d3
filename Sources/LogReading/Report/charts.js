// Charts. Drawings scale with the page, but their labels are HTML and keep their size, to be readable on a phone.

/** The colour classes of series: fixed for known names, in turn for others. */
const colours = {
  sent: 'c-sent', accepted: 'c-sent', delivered: 'c-delivered', suppressed: 'c-suppressed', rejected: 'c-rejected',
  refused: 'c-rejected', expired_unsent: 'c-late', throttled: 'c-late', undelivered: 'c-undelivered',
  impossible: 'c-undelivered', failed: 'c-failed', notSent: 'c-failed', fraud: 'c-suppressed', optedOut: 'c-rejected',
  misconfigured: 'c-expired', unknown: 'c-unknown', expired: 'c-expired',
  approved: 'c-delivered', locked: 'c-rejected',
  p50: 'c-sent', p90: 'c-rejected', p99: 'c-failed',
};
const colour = (name, index = 0) => Object.hasOwn(colours, name) ? colours[name] : `c-${index % 5}`;

/** Outcomes in the order of display; unknown ones come last, by name. */
function ordered(outcomes) {
  const order = [
    'sent', 'accepted', 'delivered', 'suppressed', 'rejected', 'refused', 'expired_unsent', 'throttled', 'undelivered',
    'impossible', 'optedOut', 'notSent', 'failed', 'fraud', 'misconfigured', 'unknown', 'expired',
    'approved', 'locked',
  ];
  const place = (name) => order.includes(name) ? order.indexOf(name) : order.length;
  return outcomes.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

function figure(title, unit, ...parts) {
  return make('figure', { class: 'chart' }, make('figcaption', {}, `${title} `, make('small', {}, unit)), ...parts);
}

function legend(entries) {
  const entry = ({ name, style }) => make('li', {}, make('i', { class: style }), name);
  return make('ul', { class: 'legend' }, entries.map(entry));
}

const place = (number) => Math.round(number * 10) / 10;

/** The positions of times between `start` and `end`, from 0 to 1, and up to six labels at round times of UTC. */
function timeAxis(start, end) {
  const steps = [
    1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
    2_592_000, 7_776_000, 31_536_000,
  ];
  const fraction = (at) => Math.min(Math.max((at - start) / Math.max(0.001, end - start), 0), 1);
  const seconds = Math.max(1, Math.floor((end - start) / 1000));
  const step = steps.find((step) => Math.floor(seconds / step) <= 5) ?? seconds;
  const ticks = [];
  for (let at = Math.ceil(start / step / 1000) * step * 1000; at <= end && ticks.length < 8; at += step * 1000) {
    const label = step >= 86_400 ? time(at).slice(5, 10) : time(at).slice(11, step < 60 ? 19 : 16);
    ticks.push({ left: fraction(at), label });
  }
  const labels = () => ticks.map(({ left, label }) => make('span', { style: `left:${place(100 * left)}%` }, label));
  return { fraction, ticks, labels };
}

/** An axis from 0 to a round number above the greatest value. */
function valueAxis(greatest) {
  // Beyond these bounds the search for a step fails: dividing a tiny number may yield 0.
  if (!(greatest >= 1e-9 && greatest <= 1e300)) greatest = 1;
  let step = 1;
  while (step > greatest / 4) step /= 10;
  while (step * 10 <= greatest / 4) step *= 10;
  step *= [1, 2, 2.5, 5].find((factor) => step * factor >= greatest / 4) ?? 10;
  const steps = Math.max(1, Math.ceil(greatest / step));
  return { top: steps * step, ticks: Array.from({ length: steps + 1 }, (_, index) => index * step) };
}

/** A chart of values over time, one for each bucket or null, as separate lines or as stacked areas. */
function timeChart(title, unit, series, isStacked = false) {
  const { start, end, width, pieces } = fleet.timeline;
  const axis = timeAxis(start, end);
  const begin = (index) => start + index * width;
  const x = (index) => place(1000 * axis.fraction(begin(index)));
  const tops = pieces.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const most = (values) => values.reduce((most, value) => Math.max(most, value ?? 0), 0);
  const scale = valueAxis(isStacked ? most(tops) : most(series.map(({ values }) => most(values))));
  const y = (value) => place(300 * (1 - Math.min(value / scale.top, 1)));

  /** A line in steps, since a value holds for its whole bucket; a gap breaks the line. */
  const line = ({ values }) => values.map((value, index) => value == null ? '' :
    `${values[index - 1] == null ? `M${x(index)} ` : 'V'}${y(value)}H${x(index + 1)}`).join('');
  const floor = pieces.map(() => 0);
  const area = ({ values }) => values.map((value, index) => {
    if (!(value > 0)) return '';
    const bottom = y(floor[index]);
    floor[index] += value;
    return `M${x(index)} ${bottom}V${y(floor[index])}H${x(index + 1)}V${bottom}Z`;
  }).join('');
  const kind = isStacked ? 'area' : 'line', draw = isStacked ? area : line;

  const hint = (_, index) => {
    const known = series.filter(({ values }) => values[index] != null)
      .map(({ name, values }) => `${name} ${short(values[index])}`);
    return make('rect', { x: x(index), width: place(x(index + 1) - x(index)), height: 300 },
      make('title', {}, `${time(begin(index))}: ${known.join(', ') || 'nothing is known'}`));
  };
  const height = (tick) => `bottom:${place(100 * tick / scale.top)}%`;
  const rows = scale.ticks.map((tick) => make('span', { style: height(tick) }, short(tick)));
  const grid = [
    ...scale.ticks.map((tick) => `M0 ${y(tick)}H1000`), ...axis.ticks.map(({ left }) => `M${place(1000 * left)} 0V300`),
  ].join('');
  const peaks = series.map(({ name, values }) => `${name} at most ${short(most(values))} ${unit}`).join(', ');
  return figure(title, unit, series.length > 1 ? legend(series) : [],
    make('div', { class: 'plot' },
      make('div', { class: 'y', 'aria-hidden': true }, rows),
      make('svg', {
        viewBox: '0 0 1000 300', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title} over time: ${peaks}`,
      },
      make('path', { class: 'grid', d: grid }),
      series.map((each) => make('path', { class: `${kind} ${each.style}`, d: draw(each) })),
      make('g', { class: 'hints' }, pieces.map(hint))),
      make('div', { class: 'x', 'aria-hidden': true }, axis.labels())),
    folded(table(`${title}, ${unit}, UTC`, ['from', ...series.map(({ name }) => name)], pieces.map((_, index) =>
      [time(begin(index)), ...series.map(({ values }) => values[index] == null ? '–' : short(values[index]))]))));
}

/** Sums by name as bars, each divided by outcome; rows after the fifteenth are only in the table. */
function barChart(title, unit, rows) {
  const shown = rows.slice(0, 15);
  const outcomes = ordered([...new Set(rows.flatMap(({ sums }) => Object.keys(sums)))]);
  const sum = ({ sums }) => Object.values(sums).reduce((sum, part) => sum + part, 0);
  const width = (part, all) => `width:${Math.floor(1000 * Math.min(part / Math.max(all, 1e-9), 1)) / 10}%`;
  const piece = (row) => (outcome, index) => row.sums[outcome] > 0 ? make('i', {
    class: colour(outcome, index),
    style: width(row.sums[outcome], sum(row)),
    title: `${outcome} ${whole(row.sums[outcome])}`,
  }) : [];
  return figure(title, unit,
    legend(outcomes.map((name, index) => ({ name, style: colour(name, index) }))),
    make('ol', { class: 'bars', 'aria-hidden': true }, shown.map((row) => make('li', {},
      make('span', {}, row.name),
      make('div', { class: 'bar', style: width(sum(row), sum(rows[0])) }, outcomes.flatMap(piece(row))),
      make('b', {}, short(sum(row)))))),
    rows.length > shown.length ? note(`${rows.length - shown.length} more in the table.`) : [],
    folded(table(title, ['name', ...outcomes, 'all'], rows.map((row) =>
      [row.name, ...outcomes.map((outcome) => whole(row.sums[outcome] ?? 0)), whole(sum(row))]))));
}

/** The pauses of providers: a row for each provider, darker where more workers paused it. */
function pauseChart(pauses, omitted, start, end) {
  const axis = timeAxis(start, end);
  const names = [...new Set(pauses.map(({ provider }) => provider))].sort();
  const providers = names.map((name) => [name, pauses.filter(({ provider }) => provider === name)]);
  const mark = ({ from, to, worker }) => make('rect', {
    x: place(1000 * axis.fraction(from)), height: 20,
    width: place(1000 * Math.max(axis.fraction(to) - axis.fraction(from), 0.002)),
  }, make('title', {}, `${time(from)}, ${span(to - from)}, ${worker}`));

  /** The total time with a pause in at least one worker; `pauses` must be sorted by start. */
  const covered = (pauses) => {
    let sum = 0, until = -Infinity;
    for (const { from, to } of pauses) {
      sum += Math.max(0, to - Math.max(from, until));
      until = Math.max(until, to);
    }
    return sum;
  };
  const head = ['provider', 'periods', 'workers', 'in all', 'longest', 'first', 'last end'];
  const row = ([name, pauses]) => [
    name, String(pauses.length), String(new Set(pauses.map(({ worker }) => worker)).size), span(covered(pauses)),
    span(pauses.reduce((most, { from, to }) => Math.max(most, to - from), 0)), time(pauses[0].from),
    time(pauses.reduce((last, { to }) => Math.max(last, to), 0)),
  ];
  const lane = ([name, pauses]) => make('div', { class: 'lane' }, make('span', {}, name),
    make('svg', { viewBox: '0 0 1000 20', preserveAspectRatio: 'none', 'aria-hidden': true }, pauses.map(mark)));
  return figure('Paused providers', 'by any worker',
    make('div', { class: 'lanes' }, providers.map(lane)),
    make('div', { class: 'x under-lanes', 'aria-hidden': true }, axis.labels()),
    table('Paused providers', head, providers.map(row)),
    omitted > 0 ? note(`${omitted} more periods are not shown.`) : []);
}
