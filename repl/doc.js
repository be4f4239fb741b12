// The search of the reference. Names come ahead of texts: the name itself, those
// that begin so, that contain it, then texts with all words.
const q = document.getElementById('page-search');
const all = document.getElementById('page-all');
const found = document.getElementById('page-found');
const entries = Array.from(document.querySelectorAll('article'), a => ({
  id: a.id, name: a.id.toLowerCase(), text: a.textContent.toLowerCase(),
  first: a.querySelector('p')}));
function rank(e, words) {
  const w = words.join(' '), last = e.name.split('.').pop();
  if (e.name === w || last === w) return 0;
  if (e.name.startsWith(w) || last.startsWith(w)) return 1;
  if (e.name.includes(w)) return 2;
  return words.every(x => e.text.includes(x)) ? 3 : 4;
}
function search() {
  const words = q.value.toLowerCase().split(/\s+/).filter(x => x);
  all.hidden = words.length > 0;
  found.replaceChildren();
  if (words.length === 0) return;
  const hits = entries.map(e => [rank(e, words), e]);
  for (const [, e] of hits.filter(h => h[0] < 4)
       .sort((a, b) => a[0] - b[0])) {
    const row = document.createElement('div');
    const a = row.appendChild(document.createElement('a'));
    a.href = '#' + e.id;
    a.textContent = e.id;
    const says = row.appendChild(document.createElement('span'));
    says.textContent = e.first ? e.first.textContent.split(/\.\s/)[0] : '';
    found.append(row);
  }
  if (!found.firstChild) found.textContent = 'Nothing has this.';
}
function leave() { q.value = ''; search(); }
q.addEventListener('input', search);
q.addEventListener('keydown', e => {
  const first = found.querySelector('a');
  if (e.key === 'Enter' && first) first.click();
  if (e.key === 'Escape') leave();
});
document.addEventListener('click', e => {
  if (e.target.matches('a[href]')) leave();
});
document.addEventListener('keydown', e => {
  if (e.key === '/' && e.target !== q) { e.preventDefault(); q.focus(); }
});
