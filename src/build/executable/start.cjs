// The first file that the executable loads from its unpacked package.
import('./dist/bin/cqbatch.js');
