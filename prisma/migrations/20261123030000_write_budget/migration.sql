-- AlterTable
ALTER TABLE "environment" ADD COLUMN     "write_budget_empty_at" TIMESTAMPTZ(6);
