// Sends three logs by the exporter of the npm package @opentelemetry/exporter-logs-otlp-http, and prints its result.
//
//     NODE_PATH=folder-of-packages node exporter.cjs http://127.0.0.1:8000/v1/logs "Bearer …" gzip

const { TraceFlags, trace, ROOT_CONTEXT } = require("@opentelemetry/api");
const { SeverityNumber } = require("@opentelemetry/api-logs");
const { OTLPLogExporter } = require("@opentelemetry/exporter-logs-otlp-http");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { LoggerProvider } = require("@opentelemetry/sdk-logs");

const [url, authorization, compression] = process.argv.slice(2);
const exporter = new OTLPLogExporter({ url, headers: { Authorization: authorization }, compression });

// The processor keeps all logs, and exports them at once.
const records = [];
const processor = {
  onEmit: (record) => records.push(record),
  forceFlush: async () => {},
  shutdown: async () => {},
};
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ "service.name": "cart" }),
  processors: [processor],
});
const logger = provider.getLogger("system");
const context = trace.setSpanContext(ROOT_CONTEXT, {
  traceId: "0102030405060708090a0b0c0d0e0f10",
  spanId: "0102030405060708",
  traceFlags: TraceFlags.SAMPLED,
});
logger.emit({
  body: "first",
  severityNumber: SeverityNumber.ERROR,
  eventName: "failed",
  attributes: { count: 3, ratio: 0.5, ok: true, names: ["a", "b"] },
  context,
});
logger.emit({ body: { a: [1, "b"] } });
logger.emit({ body: "third" });
exporter.export(records, (result) => {
  process.stdout.write(JSON.stringify({ ...result, error: result.error && String(result.error) }));
  exporter.shutdown();
});
