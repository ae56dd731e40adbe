// The page's script in one file, as a browser loads it: on stdout.
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: ["chat_page.jsx"], bundle: true, write: false, format: "esm", jsx: "automatic", logLevel: "error",
  define: { "process.env.NODE_ENV": '"production"' },
});
process.stdout.write(outputFiles[0].text);
