'use strict';

// Creates elements, and formats numbers and times for people.

const vector = new Set(['svg', 'g', 'path', 'rect', 'title']);

/** Creates an element; text becomes text nodes, so that nothing of a log becomes markup. */
function make(name, attributes, ...children) {
  const space = vector.has(name) ? 'http://www.w3.org/2000/svg' : 'http://www.w3.org/1999/xhtml';
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, visible(String(value)));
  element.append(...children.flat().map((child) => typeof child === 'string' ? visible(child) : child));
  return element;
}

/** Replaces invisible characters, such as those that change the direction of text, by U+FFFD. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\ufffd');
}

/** A table whose first column names its rows; with `wraps`, the last one has long texts. */
function table(caption, head, rows, wraps = false) {
  const line = (cells) => make('tr', {}, cells.map((cell, column) =>
    column === 0 ? make('th', { scope: 'row' }, cell) : make('td', {}, cell)));
  return make('div', { class: 'scroll', tabindex: 0 }, make('table', wraps ? { class: 'wraps' } : {},
    make('caption', {}, caption),
    make('thead', {}, make('tr', {}, head.map((cell) => make('th', { scope: 'col' }, cell)))),
    make('tbody', {}, rows.map(line))));
}

/** A collapsed table with the data of a chart. */
function folded(table) {
  return make('details', {}, make('summary', {}, 'As a table'), table);
}

function note(text) {
  return make('p', { class: 'note' }, text);
}

/** All digits of a whole number with thousands separators, such as `1,234,567`. */
function whole(number) {
  return String(Math.min(Math.max(Math.round(number), 0), 1e18)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function decimal(number, places) {
  const scale = 10 ** places, scaled = Math.min(Math.max(Math.round(number * scale), 0), 1e18);
  const fraction = String(scaled % scale).padStart(places, '0').replace(/0+$/, '');
  return whole(Math.floor(scaled / scale)) + (fraction && '.' + fraction);
}

/** At most four digits, such as `0.25`, `12.5`, `1,234` and `48.1k`. */
function short(number) {
  if (number < 10) return decimal(number, 2);
  if (number < 100) return decimal(number, 1);
  if (number < 10_000) return whole(number);
  if (number < 999_500) return decimal(number / 1e3, 1) + 'k';
  if (number < 999_500_000) return decimal(number / 1e6, 1) + 'M';
  return decimal(number / 1e9, 1) + 'G';
}

/** A count with its noun, such as `1 gap` and `12 gaps`. */
function count(number, thing) {
  return `${whole(number)} ${thing}${number === 1 ? '' : 's'}`;
}

function percent(share) {
  return decimal(share * 100, share < 0.1 ? 2 : 1) + ' %';
}

/** The two greatest units of a time in milliseconds, such as `2 d 3 h`, `4 min 5 s` and `1.2 s`. */
function span(milliseconds) {
  const seconds = Math.floor(Math.max(0, milliseconds) / 1000);
  if (seconds < 10) return decimal(milliseconds / 1000, 1) + ' s';
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

/** The time in UTC, `2026-11-20 12:34:56`. */
function time(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

/** Up to five names, and the number of further ones. */
function list(names) {
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
}
