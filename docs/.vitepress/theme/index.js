import theme from 'vitepress/theme';
import '../../../src/page/style/tokens.css';
import './colours.css';

/* The site has the colours of report.html and of the dashboard. */
export default theme;
