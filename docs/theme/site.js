// What a newcomer looks for is open in the navigation, until the reader decides otherwise.
for (const group of ['Start', 'Use it', 'Packages']) {
  const key = `tsd-accordion-${group}`
  if (localStorage.getItem(key) === null) localStorage.setItem(key, 'true')
}
