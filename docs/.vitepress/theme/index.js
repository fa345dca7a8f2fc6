import theme from 'vitepress/theme';
import '../../../src/pages/browser/style/tokens.css';
import './colors.css';

/* The site has the colors of report.html and of the dashboard. */
export default theme;
