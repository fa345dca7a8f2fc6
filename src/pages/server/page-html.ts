export const htmlType = 'text/html; charset=utf-8';

/** A page of the dashboard. All its addresses are relative: a proxy may serve the dashboard under a path. */
export const dashboardPage = pageOf(`<main id="page" aria-busy="true"></main>
<noscript>The dashboard needs JavaScript. Without it, use "cqbatch status" and "cqbatch list".</noscript>
<script type="module" src="dashboard.js"></script>`);

/** What a browser gets that opens the control address after its first visitor. */
export const spentPage = pageOf(`<main>
<p class="brand">cqbatch</p>
<h1>This address worked once and has expired</h1>
<p><a href="./">Look at the dashboard</a>, or restart "cqbatch dashboard --control" and open the address that it prints.</p>
</main>`);

function pageOf(body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>cqbatch</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="dashboard.css">
</head>
<body>
${body}
</body>
</html>
`;
}
